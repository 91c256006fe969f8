"""Bodies of requests: read, checked, and turned into requests of the service."""
