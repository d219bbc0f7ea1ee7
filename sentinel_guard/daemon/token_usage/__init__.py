"""The tokens of live sessions (R6): read from what their coding agents record, or reported by them."""
