"""CPU cost of Pocket TTS at full size: `python -m benchmarks.pocket_cpu`.

Ours beside the original with weights of the same sizes, where its package `pocket-tts` can be imported, on one thread
for each network. What is compared takes turns in one run, so ratios mean the same on a slow machine as on a fast one;
times are of the processor, not of the clock, so other work on the machine changes them little. Both are given the same
number of ids, and speak to the greatest length that this allows. The original is no dependency: install it beside, with
`pip install --no-deps pocket-tts` and what it imports, or read its figures in the documentation.
"""

import argparse
import asyncio
import importlib.util
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from rich.console import Console

from benchmarks.pocket_networks import NEVER_ENDING, PIECES, RULES, letters, random_networks, released
from polyvox.bench.engine import Check, as_table
from polyvox.engines.pockettts.engine import PocketTtsEngine
from polyvox.engines.pockettts.text import TextDivider
from polyvox.engines.pockettts.variants import VARIANTS
from polyvox.installation import load_settings
from polyvox.types import PreparedVoice, Utterance, VoicePrompt

RATE = 24_000
TEXT = "Rain falls."
PROMPT_SECONDS = 10
COST_LIMIT, FIRST_LIMIT, TOGETHER_LIMIT = 0.4, 0.5, 1.0
TOGETHER = 4
ORIGINALS = {
    "pockettts": "english_2026-10",
    **{f"pockettts-{size}": f"english_{size}_2026-10" for size in ("18m", "7m", "2m")},
}
"""The original's names of the models that are measured."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Processor time for a second of audio, and until the first audio."""

    cost: float
    first: float


def prompt() -> VoicePrompt:
    """A recording: noise serves, since only its length matters."""
    samples = np.random.Generator(np.random.Philox(1)).standard_normal(PROMPT_SECONDS * RATE, np.float32)
    return VoicePrompt(0.1 * samples, RATE, "", "noise")


class Original:
    """The original's own code with random weights of the released sizes."""

    def __init__(self, model: str) -> None:
        from pocket_tts.models.tts_model import TTSModel  # type: ignore[import-not-found]
        from pocket_tts.utils.config import CONFIGS_DIR, Config  # type: ignore[import-not-found]

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tokenizer.json"
            letters().save(str(path))
            given: dict[str, Any] = yaml.safe_load((CONFIGS_DIR / f"{ORIGINALS[model]}.yaml").read_text())
            for name in ("weights_path", "weights_path_without_voice_cloning"):
                given.pop(name)
            given["flow_lm"]["lookup_table"] |= {"n_bins": PIECES, "tokenizer": "json", "tokenizer_path": str(path)}
            self._model = TTSModel._from_pydantic_config_with_weights(Config(**given), 0.3, 1, None, 1e9)
        torch.manual_seed(0)
        for parameter in self._model.requires_grad_(False).eval().parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=parameter[0].numel() ** -0.5)
        self._voice = self._model.get_state_for_audio_prompt(torch.from_numpy(prompt().pcm)[None])

    def speak(self) -> Figures:
        started, first, samples = time.process_time(), 0.0, 0
        for part in self._model.generate_audio_stream(self._voice, TEXT):
            first = first or time.process_time() - started
            samples += part.shape[-1]
        return Figures((time.process_time() - started) * RATE / samples, first)


@asynccontextmanager
async def ours(model: str, weights: str) -> AsyncIterator[Callable[[int], Any]]:
    """A function that speaks the text so many times at once."""
    settings = load_settings(pockettts_device="cpu", pockettts_weights=weights, pockettts_streams=TOGETHER)
    engine = PocketTtsEngine(VARIANTS[model], settings)
    networks = random_networks(released(model), torch.device("cpu"), torch.float32)
    await engine.start_with(networks, TextDivider(letters(), RULES.text), RULES)
    del networks
    voice = await engine.prepare(prompt())

    async def speak(at_once: int) -> Figures:
        started = time.process_time()
        streams = [_stream(engine, voice, seed) for seed in range(at_once)]
        found = await asyncio.gather(*streams)
        samples = sum(samples for samples, _ in found)
        return Figures((time.process_time() - started) * RATE / samples, found[0][1] - started)

    try:
        yield speak
    finally:
        await engine.close()


async def _stream(engine: PocketTtsEngine, voice: PreparedVoice, seed: int) -> tuple[int, float]:
    """Samples of a request, and the processor's time at its first audio."""
    samples, first = 0, 0.0
    async for chunk in engine.speak(Utterance(TEXT, "", prepared=voice, seed=seed, tuning=dict(NEVER_ENDING))):
        first = first or time.process_time()
        samples += len(chunk.pcm)
    return samples, first


async def measured(model: str, rounds: int, progress: Callable[[str], None], *, has_original: bool) -> list[Check]:
    """One model by turns: the original, ours in 8 bits and in float32, and several at once."""
    original = Original(model) if has_original else None
    theirs, eight, single, four = list[Figures](), list[Figures](), list[Figures](), list[Figures]()
    async with ours(model, "int8") as speak, ours(model, "float32") as exact:
        for turn in range(rounds):
            progress(f"{model}, round {turn + 1} of {rounds}")
            if original is not None:
                theirs.append(original.speak())
            eight.append(await speak(1))
            single.append(await exact(1))
            four.append(await speak(TOGETHER))
    limited = model == "pockettts"

    def costs(figures: Sequence[Figures]) -> list[float]:
        return [each.cost for each in figures]

    def ratios(ours: Sequence[float], others: Sequence[float]) -> list[float]:
        return [mine / other for mine, other in zip(ours, others, strict=True)]

    # The language model goes on while the first frame waits for the codec: other work on the machine only adds to it.
    firsts, their_firsts = ([min(each.first for each in figures)] if figures else [] for figures in (eight, theirs))
    checks = [
        Check.of(f"{model}: CPU, 8 bits", "s/s", costs(eight)),
        Check.of(f"{model}: CPU, float32", "s/s", costs(single)),
        Check.of(f"{model}: CPU until the first audio", "s", firsts),
        Check.of(f"{model}: {TOGETHER} at once / alone", "", ratios(costs(four), costs(eight)), TOGETHER_LIMIT),
    ]
    if theirs:
        cost_limit, first_limit = (COST_LIMIT, FIRST_LIMIT) if limited else (None, None)
        checks += [
            Check.of(f"{model}: original, CPU", "s/s", costs(theirs)),
            Check.of(f"{model}: original, CPU until the first audio", "s", their_firsts),
            Check.of(f"{model}: ours / original", "", ratios(costs(eight), costs(theirs)), cost_limit),
            Check.of(f"{model}: float32 / original", "", ratios(costs(single), costs(theirs))),
            Check.of(f"{model}: ours / original, first audio", "", ratios(firsts, their_firsts), first_limit),
        ]
    return checks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", choices=sorted(ORIGINALS), default=["pockettts"])
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    console, has_original = Console(), importlib.util.find_spec("pocket_tts") is not None
    if not has_original:
        console.print("The package pocket-tts is not installed: ours alone is measured.")
    checks: list[Check] = []
    for model in given.models:
        show = Console(stderr=True).print
        checks += asyncio.run(measured(model, given.rounds, show, has_original=has_original))
    console.print(as_table(checks))
    sys.exit(any(not check.passed for check in checks))


if __name__ == "__main__":
    main()
