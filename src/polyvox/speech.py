"""Speech: finished speech of the library, to be kept, heard or looked at in a notebook."""

import asyncio
import base64
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from polyvox.audio.encode import AudioFormat, FileEncoder, Tags, parse_format
from polyvox.audio.loudspeaker import play
from polyvox.errors import InvalidRequestError
from polyvox.text.captions import CaptionFormat, captions, cues
from polyvox.types import Pcm, WordTiming

_ENDINGS = {"ogg": AudioFormat.OPUS}
_SHOWN_CHARS = 40


@dataclass(frozen=True, slots=True, repr=False)
class Speech:
    """Finished speech: float32 samples, [samples] or [samples, 2], and when each word of its text is heard.

    As the last value of a notebook's cell it is a player.
    """

    pcm: Pcm
    sample_rate: int
    words: tuple[WordTiming, ...] = ()
    text: str = ""
    tags: Tags = field(default_factory=dict)
    """Tags of its files: that it is synthetic, and what made it."""

    @property
    def seconds(self) -> float:
        return len(self.pcm) / self.sample_rate

    def encode(self, format: str) -> bytes:  # noqa: A002
        """The bytes of a file: mp3, opus, aac, flac, wav, pcm or webm."""
        encoder = FileEncoder(parse_format(format, field="format"), self.sample_rate, self._channels, self.tags)
        try:
            encoder.encode(self.pcm)
            return encoder.finish()
        finally:
            encoder.close()

    def save(self, path: str | Path) -> Path:
        """Write a file in the format that its ending names."""
        target = Path(path)
        ending = target.suffix.removeprefix(".").lower()
        if not ending:
            raise InvalidRequestError(f"{target} has no ending that names a format, such as .wav.", field="path")
        data = self.encode(_ENDINGS.get(ending, ending))
        try:
            target.write_bytes(data)
        except OSError as error:
            raise InvalidRequestError(f"{target} cannot be written: {error.strerror}.", field="path") from error
        return target

    def play(self) -> None:
        """Play it on this machine, to its end; `UnavailableError` where nothing can play."""
        with ThreadPoolExecutor(1) as thread:  # the caller's thread may have an event loop that runs, as in a notebook
            thread.submit(asyncio.run, self.play_async()).result()

    async def play_async(self) -> None:
        """The same on the caller's event loop."""

        async def pieces() -> AsyncIterator[Pcm]:
            yield self.pcm

        await play(pieces(), self.sample_rate, self._channels, "write a file with `save`")

    def captions(self, format: str = "srt") -> str:  # noqa: A002
        """A file of captions: srt, vtt, word_vtt or json. They need words: say `words=True` for most models."""
        if format not in tuple(CaptionFormat):
            known = ", ".join(CaptionFormat)
            raise InvalidRequestError(f"{format!r} is no format of captions; use one of {known}.", field="format")
        return captions(cues(self.words, text=self.text), CaptionFormat(format))

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= _SHOWN_CHARS else f"{self.text[: _SHOWN_CHARS - 3]}..."
        return f"<Speech {text!r}, {self.seconds:.2f} s at {self.sample_rate} Hz>"

    def _repr_html_(self) -> str:
        """The player that a notebook shows."""
        data = base64.b64encode(self.encode("mp3")).decode()
        return f'<audio controls src="data:audio/mpeg;base64,{data}"></audio>'

    @property
    def _channels(self) -> int:
        return 1 if self.pcm.ndim == 1 else self.pcm.shape[1]
