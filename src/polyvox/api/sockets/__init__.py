"""WebSockets: JSON messages in turn, the contexts of one socket, and the watch over idle ones."""
