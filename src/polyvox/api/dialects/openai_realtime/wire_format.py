"""The audio formats of OpenAI's Realtime API."""

import binascii
from base64 import b64decode, b64encode
from enum import StrEnum

from polyvox.audio.companding import alaw, from_alaw, from_mulaw, mulaw
from polyvox.audio.pcm import from_pcm16, to_pcm16
from polyvox.errors import AudioDecodeError, InvalidRequestError
from polyvox.types import Pcm


class WireFormat(StrEnum):
    """A format, always mono: 16-bit samples at 24 kHz, or the mu-law or A-law of telephone lines at 8 kHz."""

    PCM = "audio/pcm"
    PCMU = "audio/pcmu"
    PCMA = "audio/pcma"

    @property
    def sample_rate(self) -> int:
        return 24_000 if self is WireFormat.PCM else 8_000

    @property
    def fields(self) -> dict[str, str | int]:
        """The format as an object; only that of PCM names its rate, as OpenAI's does."""
        return {"type": str(self), "rate": self.sample_rate} if self is WireFormat.PCM else {"type": str(self)}

    def base64(self, pcm: Pcm) -> str:
        """The samples in base64; stereo is mixed down."""
        mono = pcm if pcm.ndim == 1 else pcm.mean(axis=1)
        encoder = {WireFormat.PCM: to_pcm16, WireFormat.PCMU: mulaw, WireFormat.PCMA: alaw}[self]
        return b64encode(encoder(mono)).decode()

    def samples(self, written: str) -> Pcm:
        """The samples of sound in base64."""
        decoder = {WireFormat.PCM: from_pcm16, WireFormat.PCMU: from_mulaw, WireFormat.PCMA: from_alaw}[self]
        try:
            return decoder(b64decode(written, validate=True))
        except (binascii.Error, ValueError) as error:
            raise InvalidRequestError("'audio' must be sound in base64.", field="audio") from error
        except AudioDecodeError as error:
            raise InvalidRequestError("'audio' must hold whole samples of 16 bits.", field="audio") from error
