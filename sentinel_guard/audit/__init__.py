"""The audit log: an append-only, hash-chained (tamper-evident) store in SQLite."""
