"""Outgoing data: what a command or tool call sends to other machines, and with which credentials."""
