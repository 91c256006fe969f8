"""Whether the stream that a task works for goes before all others."""

from contextvars import ContextVar

goes_first: ContextVar[bool] = ContextVar("goes_first", default=False)
"""True until the first audio of a stream whose client has no other, while another client's streams fill the engine."""
