"""One-liners in JavaScript, Perl, Ruby, PHP, Lua and similar languages -> effects.

one_liner_effects is the entry point, then statement_parser, expression_parser, function_calls; language_tables is data.
"""
