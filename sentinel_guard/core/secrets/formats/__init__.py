"""The formats of secrets: a table for each family of providers."""
