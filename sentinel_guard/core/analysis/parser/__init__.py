"""Bash parser, text -> syntax tree, in four layers.

lexer, dollar_parser, simple_command_parser, bash_parser; syntax_tree holds the nodes.
"""
