"""The engine of containers of this machine: whose its containers, volumes and ports are, by when they were made."""
