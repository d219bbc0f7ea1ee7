"""Commands that agents call: help from a person, reports of token usage, the MCP server."""
