"""The server on more than one process: the doors in one place, each engine in as many others as its load takes."""
