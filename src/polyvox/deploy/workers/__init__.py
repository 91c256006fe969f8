"""Doors in several processes of one machine, before one process with the engines: `polyvox serve --workers`."""
