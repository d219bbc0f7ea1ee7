"""Static analysis of an agent's action: what a command line or a tool call would do, without running it.

The stages, in order: parser (text -> syntax tree), expansion (word -> fields), evaluation (tree -> effects);
programs and languages tell the effects of one command, and of the code that it is given.
"""
