"""Abstract interpretation of a bash syntax tree: walks it as bash would run it, and collects effects.

walk_syntax_tree is the entry point; simple_command evaluates one command.
"""
