"""Shell expansion, words -> fields, in bash's order.

brace_expansion, tilde_expansion, parameter_expansion and arithmetic, constant_output, word_splitting, glob_patterns.
"""
