"""Polyvox as an output module of Speech Dispatcher: the protocol, what a message says, and who speaks it."""
