"""Sessions of agents: state machine, fingerprints of calls, and the parsing of what failed calls print."""
