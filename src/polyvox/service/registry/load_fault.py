"""The reason why a model could not be loaded, and whether asking again can help."""

import re
from dataclasses import dataclass

from polyvox.errors import DeadlineError, NotServedError, PolyvoxError, UnavailableError

_PERMANENT_SECONDS = 60.0
"""Time until a load that failed for good is tried again; an operator who mended it uses `/dev/reload`."""
_TRANSIENT_SECONDS = 2.0
_SEE_LOG = "the server's log has the cause."
_WORD = r"[^\s/'\"`;,]+"
_FOLDERS = re.compile(rf"(?<![\w:/.])(?<!GET )(?<!POST )/(?:{_WORD}(?: (?!-){_WORD}){{0,4}}/)+")
"""The folders of a path on the server's disk, spaces in them included, which callers need not know; paths of the API
stay.
"""
_OUT_OF_MEMORY = ("out of memory", "bad_alloc", "failed to allocate")


@dataclass(frozen=True, slots=True)
class LoadFault:
    """A load that failed. Until `until`, on the loader's clock, requests are refused without another try."""

    message: str
    permanent: bool
    until: float

    @classmethod
    def of(cls, model: str, error: Exception, now: float) -> "LoadFault":
        """The fault for an exception of a load, in words that a caller may see."""
        if _is_out_of_memory(error):
            return cls(
                f"There is not enough memory to load the model {model!r}; the server's operator can unload another, "
                "lower max_loaded_models or give it more memory.",
                permanent=True,
                until=now + _PERMANENT_SECONDS,
            )
        permanent = _is_permanent(error)
        known = isinstance(error, PolyvoxError)
        message = _FOLDERS.sub("", str(error)) if known else f"The model {model!r} failed to start; {_SEE_LOG}"
        return cls(message, permanent, now + (_PERMANENT_SECONDS if permanent else _TRANSIENT_SECONDS))

    def error(self, now: float) -> UnavailableError:
        """The refusal of a request; a transient fault says when to try again."""
        if self.permanent:
            return NotServedError(self.message, field="model")
        return UnavailableError(self.message, field="model", retry=True, retry_after=max(1.0, self.until - now))


def _is_permanent(error: Exception) -> bool:
    """Return whether the next try will fail alike: not where a connection, a disk or a full server was the cause."""
    if isinstance(error, UnavailableError) and error.retry is not None:
        return not error.retry
    if isinstance(error, FileNotFoundError | PermissionError | NotADirectoryError):
        return True
    return not isinstance(error, OSError | DeadlineError)


def _is_out_of_memory(error: Exception) -> bool:
    """PyTorch's class is known by its name, since PyTorch need not be installed; ONNX Runtime has only a text."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and any(hint in str(error).lower() for hint in _OUT_OF_MEMORY)
