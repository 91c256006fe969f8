"""The caller of a request: whom it is counted for, whose things it may use, and how long it waits."""

from dataclasses import dataclass

from polyvox.voices.records import SHARED_OWNER


@dataclass(frozen=True, slots=True)
class CallContext:
    """The caller of a request, as its door's transport knows it; filled once, before the request is read.

    `client` is whom the request is counted for, a key or an address; empty for the server's own work, which nothing
    limits. `owner` is whose voices, dictionaries and cached speech it may use. `request_id` is the caller's own id.
    `max_wait` is the longest wait for its turn, in seconds; None leaves it to the server. Without `use_cache` it is
    spoken in any case, and not cached. Nobody waits for the first words of a `background` call, such as an item of a
    batch; it has its own memory for whole answers. One that `continues` speaks on where its listener still hears what
    the call before it made: a stream that has begun is not refused halfway. One that is not `charged` speaks again what
    its caller was charged for already.
    """

    client: str = ""
    owner: str = SHARED_OWNER
    request_id: str | None = None
    max_wait: float | None = None
    use_cache: bool = True
    background: bool = False
    continues: bool = False
    charged: bool = True


LOCAL_CALL = CallContext(use_cache=False)
"""A call from this process: of the library, or of a command."""
