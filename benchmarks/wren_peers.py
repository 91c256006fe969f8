"""Wren beside another small student of Kokoro, hibari (PyPI: hibari-tts), and beside Kokoro itself: cost and quality.

    python -m benchmarks.wren_peers DATA --hibari OTHER_ENVIRONMENT/bin/python

All three speak the same English sentences with the voice af_heart, on one thread, one after the other. hibari runs in
an environment of its own: `python -m venv E && E/bin/pip install 'hibari-tts[fast]'`. DATA is the folder of
`held_out.json`, as `training.wren.corpus` writes it. Needs `polyvox pull kokoro`, `distillmos` and `moonshine-base`.
"""

import argparse
import asyncio
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory

import numpy as np

from polyvox.engines.catalog import Catalog
from polyvox.evaluate.metric import Metric
from polyvox.evaluate.scorers import Scorers
from polyvox.installation import load_settings
from training.wren.compare import MODELS, TEN_WORDS, Spoken, speak
from training.wren.held_out import read_sentences

_VOICE, _RATE = "af_heart", 24_000
_PEER = "hibari"
_ENGLISH = "ab"
_HIBARI = """
import json, sys, time
import numpy as np
from hibari import Hibari
tts = Hibari()
tts("I am ready to speak.")
arrays = {}
for number, text in enumerate(json.load(sys.stdin)):
    cpu, began, first, parts = time.process_time(), time.perf_counter(), None, []
    for part in tts.stream(text):
        first = first or (time.perf_counter() - began, time.process_time() - cpu)
        parts.append(part)
    arrays[f"{number}.times"] = np.array([time.process_time() - cpu, *first])
    arrays[f"{number}.pcm"] = np.concatenate(parts).astype(np.float32)
np.savez(sys.argv[1], **arrays)
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """One model's cost, its first audio of ten words in seconds, its ratings and words misheard."""

    model: str
    audio_seconds: float
    cpu_per_audio_second: float
    first_seconds: float
    first_cpu_seconds: float
    distill_mos: float
    word_error_rate: float


async def by_polyvox(model: str, texts: Sequence[str]) -> list[Spoken]:
    """Speak the texts with a model of Polyvox."""
    settings = load_settings(kokoro_executor="onnx", kokoro_threads=1, kokoro_workers=1)
    engine = Catalog.installed().factories[model](settings)
    await engine.start()
    try:
        return [await speak(engine, text, _VOICE) for text in texts]
    finally:
        await engine.close()


def by_hibari(python: Path, texts: Sequence[str]) -> list[Spoken]:
    """Speak the texts with hibari, in its own process."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "spoken.npz"
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        environment.pop("PYTHONPATH", None)
        command = [str(python), "-c", _HIBARI, str(file)]
        subprocess.run(command, input=json.dumps(texts).encode(), env=environment, check=True)  # noqa: S603
        with np.load(file) as stored:
            return [
                Spoken(stored[f"{number}.pcm"], *(float(value) for value in stored[f"{number}.times"]))
                for number in range(len(texts))
            ]


def figures(model: str, scorers: Scorers, texts: Sequence[str], spoken: Sequence[Spoken]) -> Figures:
    """Score what one model spoke; its first texts are `TEN_WORDS`."""
    soon = spoken[: len(TEN_WORDS)]
    scores = [scorers.score(each.pcm, _RATE, (text,)) for text, each in zip(texts, spoken, strict=True)]
    words = [score.words for score in scores if score.words is not None]
    audio = sum(len(each.pcm) for each in spoken) / _RATE
    return Figures(
        model,
        round(audio, 1),
        round(sum(each.cpu_seconds for each in spoken) / audio, 4),
        round(median(each.first_seconds for each in soon), 3),
        round(median(each.first_cpu_seconds for each in soon), 3),
        round(mean(score.distillmos for score in scores if score.distillmos is not None), 3),
        round(sum(words[1:], words[0]).rate, 4),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line of JSON for each model as soon as it is scored."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder of held_out.json")
    parser.add_argument("--hibari", type=Path, help="Python of the environment that holds hibari-tts")
    parser.add_argument("--sentences", type=int, default=32, help="besides five of ten words")
    options = parser.parse_args(arguments)
    held_out = [row.text for row in read_sentences(options.data / "held_out.json") if row.language in _ENGLISH]
    texts = [*TEN_WORDS, *held_out[: options.sentences]]
    scorers = Scorers.of((Metric.DISTILLMOS, Metric.WER), load_settings().models_dir, 1)
    for model in (*MODELS, *((_PEER,) if options.hibari else ())):
        spoken = by_hibari(options.hibari, texts) if model == _PEER else asyncio.run(by_polyvox(model, texts))
        print(json.dumps(asdict(figures(model, scorers, texts, spoken))), flush=True)


if __name__ == "__main__":
    main()
