"""Speech for commands: made here or by a server, written to a file or played, with its words shown."""
