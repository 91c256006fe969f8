"""The recording that a command's voice is the path of."""

from pathlib import Path

from polyvox.errors import InvalidRequestError, RequestTooLargeError

_ENDINGS = frozenset({".aac", ".flac", ".m4a", ".mp3", ".mp4", ".oga", ".ogg", ".opus", ".wav", ".webm"})


def read_recording(voice: str | None, max_bytes: int) -> bytes | None:
    """The file that a voice is the path of; None for the name of a voice, which has neither a slash nor such an ending.

    The file is read no further than the limit.
    """
    if not voice or ("/" not in voice and Path(voice).suffix.lower() not in _ENDINGS):
        return None
    try:
        with Path(voice).open("rb") as file:
            data = file.read(max_bytes + 1)
    except FileNotFoundError:
        message = f"There is no file {voice[:80]!r}; give the path of a recording, or the name of a voice."
        raise InvalidRequestError(message, field="voice") from None
    if len(data) > max_bytes:
        raise RequestTooLargeError(f"{voice[:80]} is over {max_bytes} bytes; give a shorter recording.", field="voice")
    return data
