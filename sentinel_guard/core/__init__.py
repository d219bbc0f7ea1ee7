"""The decision logic, without files, sockets and processes: model, analysis, policy, checks, secrets, incidents."""
