"""Checks that every request and WebSocket passes before a door: keys, hosts, origins, sizes, ids, traces."""
