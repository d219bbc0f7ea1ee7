"""The checks: each looks at an action or its outcome, and returns findings that allow, refuse or stop it."""
