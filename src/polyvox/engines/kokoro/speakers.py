"""How each of Kokoro's voices sounds to CAM++, and how high it speaks: measured once and kept beside this file.

`python -m polyvox.engines.kokoro.speakers` measures again; it takes a minute or two.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from polyvox.audio.pitch import voiced_f0
from polyvox.bundles.validate import Bundle, open_bundle
from polyvox.engines.kokoro.call import ModelInput
from polyvox.engines.kokoro.model import KokoroModel
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.engines.kokoro.vocabulary import IDS
from polyvox.engines.kokoro.voices import LANGUAGES, VoiceBook, catalogue
from polyvox.installation import load_settings
from polyvox.voices.mixing import MixTerm
from polyvox.voices.similarity import SpeakerEncoder

SENTENCE = "ɹˈIs ɪz ˈɔfᵊn sˈɜɹvd ɪn ɹˈWnd bˈOlz."
"""Rice is often served in round bowls."""

_TABLE = Path(__file__).with_name("speakers.npz")
# Half as high or twice as high is another voice, however alike the rest: what a doubling beyond the first tenth costs.
_FREE, _COST = 0.1, 0.5
_MIXED, _SHARPNESS = 5, 0.05


@dataclass(frozen=True, slots=True)
class Speakers:
    """All voices, in the order of the catalogue: embeddings [voices, 192] of unit length, and pitches in hertz."""

    names: tuple[str, ...]
    embeddings: npt.NDArray[np.float32]
    pitches: npt.NDArray[np.float32]

    def nearest(
        self, embedding: npt.NDArray[np.float32], pitch: float | None, language: str = "en"
    ) -> tuple[tuple[MixTerm, ...], float]:
        """A mix of the few voices of a language that come nearest to a speaker, and how alike the best one is."""
        likeness = self.embeddings @ embedding
        score = likeness.copy()
        if pitch is not None:
            score -= _COST * np.maximum(0.0, np.abs(np.log(self.pitches / pitch)) - _FREE)
        foreign = [LANGUAGES[name[0]].partition("-")[0] != language for name in self.names]
        places = np.argsort(np.where(foreign, -np.inf, score))[::-1][:_MIXED]
        weights = np.exp((score[places] - score[places[0]]) / _SHARPNESS)
        shares = np.maximum(np.round(weights / weights.sum(), 3), 0.001)
        parts = tuple(MixTerm(self.names[place], float(share)) for place, share in zip(places, shares, strict=True))
        return parts, float(likeness[places].max())


def read_speakers() -> Speakers:
    """The table as it was measured."""
    with np.load(_TABLE, allow_pickle=False) as table:
        embeddings = table["embeddings"].astype(np.float32)
        names = tuple(voice.id for voice in catalogue())
        return Speakers(names, embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True), table["pitches"])


def measure_speaker(
    model: KokoroModel, encoder: SpeakerEncoder, style: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.float32], float]:
    """Embedding and pitch of one voice."""
    ids = tuple(IDS[symbol] for symbol in SENTENCE)
    pcm = model.run(ModelInput(ids, style[len(ids) - 1], 1.0)).pcm
    return encoder.embed(pcm, SAMPLE_RATE), float(np.median(voiced_f0(pcm, SAMPLE_RATE)))


def _measure(kokoro: Bundle, campplus: Bundle) -> None:
    model, encoder = KokoroModel(kokoro.file("model.onnx"), 2), SpeakerEncoder(campplus)
    book = VoiceBook(kokoro.folder / "voices", catalogue())
    measured = [measure_speaker(model, encoder, book.style(voice.id)) for voice in catalogue()]
    embeddings, pitches = (np.stack([np.asarray(row) for row in column]) for column in zip(*measured, strict=True))
    np.savez_compressed(_TABLE, embeddings=embeddings.astype(np.float16), pitches=pitches.astype(np.float32))


if __name__ == "__main__":
    _measure(*(open_bundle(name, load_settings().models_dir) for name in ("kokoro", "campplus")))
