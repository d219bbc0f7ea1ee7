"""Cloud platforms, hosted services and containers: argv -> effects."""
