"""What each known program does with its arguments: argv -> effects.

registry joins the tables of all files and folders here.
"""
