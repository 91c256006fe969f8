"""The server on several processes: the doors in one, each engine in as many replicas as its load needs."""
