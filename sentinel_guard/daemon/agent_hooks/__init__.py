"""Sessions and calls of agents whose own hooks ask: which session a payload belongs to, its verdict, its outcome."""
