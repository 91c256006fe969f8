"""Words that are misheard behind ALBERT, and behind the network in its place: `python -m training.front.words TEXTS`.

Wren speaks each sentence by both fronts, in the 8-bit graphs that the server runs, and Moonshine writes them down. A
word that only one of the two loses shows a difference; one that both lose may be the recogniser's. `TEXTS` is a file of
English sentences, one a line, without figures.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from polyvox.audio.analysis import mono_16k
from polyvox.bundles.onnx_graphs.kokoro_front import front_graph
from polyvox.bundles.validate import Bundle, open_bundle
from polyvox.config import Settings
from polyvox.engines.kokoro.engine import KokoroEngine
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.engines.kokoro.synthesis import SerialSynthesis
from polyvox.engines.kokoro.voice_table import VoiceTable
from polyvox.engines.kokoro.wren.decoder import WrenDecoder
from polyvox.engines.kokoro.wren.front import KokoroFront
from polyvox.engines.kokoro.wren.model import WrenModel
from polyvox.evaluate.wer import WerResult, word_error_rate
from polyvox.installation import load_settings
from polyvox.runtime.executors.ort import OrtGraph
from polyvox.service.listening.recognisers import MODELS, Recognisers
from polyvox.types import Pcm, Utterance
from polyvox.voices.recognition.recogniser import RecognitionTask

VOICES = ("af_heart", "af_bella", "am_michael", "am_fenrir", "bf_emma", "bm_george")
THREADS = 1


@dataclass(frozen=True, slots=True)
class Heard:
    """A sentence as one front had it said."""

    text: str
    errors: WerResult


class _AlbertFront(KokoroFront):
    """The front with ALBERT, as Kokoro's own graph has it."""

    def __init__(self, model: Path) -> None:
        self._graph = OrtGraph(front_graph(model), THREADS)


async def engine_behind(front: KokoroFront, settings: Settings, bundle: Bundle) -> KokoroEngine:
    """Wren behind a front."""
    engine = KokoroEngine(settings, "wren")
    with as_file(files("polyvox.engines.kokoro.wren") / "graphs") as folder:
        model = WrenModel(front, WrenDecoder(folder, THREADS))
    voices = VoiceTable(bundle.folder / "voices", engine.voices)
    await engine.start_with(SerialSynthesis(model.run, 1, None), voices)
    return engine


async def compare(sentences: Sequence[str], voices: Sequence[str]) -> dict[str, object]:
    """Speak and hear all; the words that were lost by each front."""
    settings = load_settings()
    bundle = open_bundle("kokoro", settings.models_dir)
    model = bundle.file("model.onnx")
    with as_file(files("polyvox.engines.kokoro.wren") / "graphs") as folder:
        fronts = {"albert": _AlbertFront(model), "distilled": KokoroFront(model, folder / "bert.onnx", THREADS)}
    engines = {name: await engine_behind(front, settings, bundle) for name, front in fronts.items()}
    recogniser = Recognisers(settings).load(next(each for each in MODELS if each.name == "moonshine-base"))
    lost = {name: WerResult(0, 0, 0, 0) for name in engines}
    for index, sentence in enumerate(sentences):
        for voice in voices:
            found = dict[str, Heard]()
            for name, engine in engines.items():
                pcm = mono_16k(await spoken(engine, sentence, voice), SAMPLE_RATE)
                text = recogniser.recognise(pcm, RecognitionTask(), lambda: None).text
                found[name] = Heard(text, word_error_rate(sentence, text))
                lost[name] += found[name].errors
            if len({each.errors.errors for each in found.values()}) > 1:
                print(
                    json.dumps({"said": sentence, "voice": voice} | {n: h.text for n, h in found.items()}), flush=True
                )
        print(index + 1, {name: (errors.errors, errors.words) for name, errors in lost.items()}, flush=True)
    for engine in engines.values():
        await engine.close()
    return {name: {"words": each.words, "lost": each.errors, "rate": each.rate} for name, each in lost.items()}


async def spoken(engine: KokoroEngine, sentence: str, voice: str) -> Pcm:
    """A sentence by one engine."""
    return np.concatenate([chunk.pcm async for chunk in engine.speak(Utterance(sentence, voice))])


def main() -> None:
    """Print the sentences in which the fronts differ, and at the end the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--voices", nargs="+", default=list(VOICES))
    parser.add_argument("--sentences", type=int, help="the first so many")
    options = parser.parse_args()
    lines = [line for line in options.texts.read_text(encoding="utf-8").splitlines() if line.strip()]
    print(json.dumps(asyncio.run(compare(lines[: options.sentences], options.voices))))


if __name__ == "__main__":
    main()
