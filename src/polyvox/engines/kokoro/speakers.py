"""CAM++ embedding and pitch of each of Kokoro's voices, measured once and kept beside this file.

`python -m polyvox.engines.kokoro.speakers MODELS_DIR` measures them again, which takes a minute or two.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from polyvox.audio.pitch import voiced_f0
from polyvox.bundles.validate import Bundle, open_bundle
from polyvox.engines.kokoro.model import KokoroModel
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.engines.kokoro.request import ModelInput
from polyvox.engines.kokoro.vocabulary import IDS
from polyvox.engines.kokoro.voice_table import VoiceTable
from polyvox.engines.kokoro.voices import LANGUAGES, VOICES
from polyvox.voices.mixing import MixTerm
from polyvox.voices.recognition.similarity import SpeakerEncoder

SENTENCE = "ɹˈIs ɪz ˈɔfᵊn sˈɜɹvd ɪn ɹˈWnd bˈOlz."
"""Rice is often served in round bowls."""

_TABLE = Path(__file__).with_name("speakers.npz")
# Half or twice the pitch is another voice, however similar the rest: the cost of a difference in log pitch, per unit
# beyond the first tenth.
_PITCH_FREE, _PITCH_COST = 0.1, 0.5
_MIXED, _TEMPERATURE = 5, 0.05


@dataclass(frozen=True, slots=True)
class SpeakerTable:
    """All voices, in the order of the catalogue: embeddings [voices, 192] of unit length, median pitches in hertz."""

    names: tuple[str, ...]
    embeddings: npt.NDArray[np.float32]
    pitches: npt.NDArray[np.float32]

    def nearest(
        self, embedding: npt.NDArray[np.float32], pitch: float | None, language: str = "en"
    ) -> tuple[tuple[MixTerm, ...], float]:
        """A mix of the few voices of a language that are nearest to a speaker, and the similarity of the best one."""
        similarity = self.embeddings @ embedding
        score = similarity.copy()
        if pitch is not None:
            score -= _PITCH_COST * np.maximum(0.0, np.abs(np.log(self.pitches / pitch)) - _PITCH_FREE)
        foreign = [LANGUAGES[name[0]].partition("-")[0] != language for name in self.names]
        order = np.argsort(np.where(foreign, -np.inf, score))[::-1][:_MIXED]
        weights = np.exp((score[order] - score[order[0]]) / _TEMPERATURE)
        shares = np.maximum(np.round(weights / weights.sum(), 3), 0.001)
        parts = tuple(MixTerm(self.names[index], float(share)) for index, share in zip(order, shares, strict=True))
        return parts, float(similarity[order].max())


def read_speakers() -> SpeakerTable:
    """Read the table that was measured."""
    with np.load(_TABLE, allow_pickle=False) as table:
        embeddings = table["embeddings"].astype(np.float32)
        names = tuple(voice.id for voice in VOICES)
        return SpeakerTable(names, embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True), table["pitches"])


def measure_speaker(
    model: KokoroModel, encoder: SpeakerEncoder, pack: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.float32], float]:
    """Embedding and median pitch of one voice."""
    ids = tuple(IDS[symbol] for symbol in SENTENCE)
    pcm = model.run(ModelInput(ids, pack[len(ids) - 1], 1.0)).pcm
    return encoder.embed(pcm, SAMPLE_RATE), float(np.median(voiced_f0(pcm, SAMPLE_RATE)))


def _measure(kokoro: Bundle, campplus: Bundle) -> None:
    model, encoder = KokoroModel(kokoro.file("model.onnx"), 2), SpeakerEncoder(campplus)
    voices = VoiceTable(kokoro.folder / "voices", VOICES)
    measured = [measure_speaker(model, encoder, voices.style(voice.id)) for voice in VOICES]
    embeddings, pitches = (np.stack([np.asarray(row) for row in column]) for column in zip(*measured, strict=True))
    np.savez_compressed(_TABLE, embeddings=embeddings.astype(np.float16), pitches=pitches.astype(np.float32))


if __name__ == "__main__":
    _measure(*(open_bundle(name, Path(sys.argv[1])) for name in ("kokoro", "campplus")))
