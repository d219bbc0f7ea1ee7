"""The operating system: files, folders, processes, terminals, sockets, and the paths of the guard's state."""
