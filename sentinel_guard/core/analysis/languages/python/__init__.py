"""Python code -> effects. python_effects is the entry point."""
