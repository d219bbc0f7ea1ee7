"""The daemon: sockets, live sessions, git hooks, file monitoring, snapshots and incident reports."""
