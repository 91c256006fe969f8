"""UserMachine: the loudspeaker and the folder of the user of `polyvox mcp`."""

import asyncio
import os
import secrets
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

from polyvox.api.dialects.mcp.backend import SpeechAudio
from polyvox.errors import ForbiddenError, NotFoundError
from polyvox.voices.limits import too_large

if TYPE_CHECKING:
    from polyvox.audio.encode import AudioFormat


class UserMachine:
    """Plays one speech at a time, and touches no file outside the folder, which is an absolute path without links."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._loudspeaker = asyncio.Lock()

    async def play(self, audio: SpeechAudio) -> None:
        from polyvox.audio.loudspeaker import play

        async with self._loudspeaker:
            await play(audio.pieces, audio.sample_rate, audio.channels, "leave out 'play' to get the audio")

    async def save(self, audio: SpeechAudio, audio_format: "AudioFormat") -> Path:
        from polyvox.cli.speech.output import FileOutput, OutputAudio

        assert self.folder is not None
        name = f"speech-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}.{audio_format}"
        output = FileOutput(self.folder / name, audio_format)
        await output.consume(OutputAudio(audio.sample_rate, audio.channels, audio.pieces, audio.tags))
        return output.path

    async def read(self, name: str, max_bytes: int) -> bytes:
        return await asyncio.to_thread(self._read, name, max_bytes)

    def _read(self, name: str, max_bytes: int) -> bytes:
        assert self.folder is not None
        try:
            path = (self.folder / name).resolve()
            if not path.is_relative_to(self.folder):
                raise ForbiddenError(f"Files are read only from {self.folder}; put the recording there.", field="file")
            with open(path, "rb", opener=_open_safely) as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise OSError("no regular file")
                data = file.read(max_bytes + 1)
        except (OSError, ValueError) as error:
            raise NotFoundError(f"There is no such file in {self.folder}; check its name.", field="file") from error
        if len(data) > max_bytes:
            raise too_large(max_bytes, "file")
        return data


def _open_safely(path: str, flags: int) -> int:
    """Open without waiting for a writer, should it be a pipe; and no link, should one have been put there meanwhile."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW)
