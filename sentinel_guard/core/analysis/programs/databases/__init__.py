"""Database clients, SQL and schema migrations: argv -> effects."""
