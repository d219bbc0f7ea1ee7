"""Terminal dialogues with a person: approval prompts, chat, and the keys that were typed."""
