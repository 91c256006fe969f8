"""Short words of English: those that a full stop shortens, and those that are typed without one."""
