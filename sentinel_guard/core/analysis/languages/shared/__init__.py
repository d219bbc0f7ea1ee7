"""What the analysers of several programming languages share: tokens, values, pure functions, effects of functions."""
