"""Program code (Python, Perl, JavaScript, awk, sed, PowerShell …) -> effects, without running it.

interpreters finds the code that a command line runs, and hands it to the file of its language.
"""
