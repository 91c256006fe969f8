"""Time to first audio and throughput of a codec language model at full size: `python -m benchmarks.speechlm_gpu`.

The weights are random: arithmetic takes the same time whatever it says. Everything runs through the engine's own path,
from text to samples; only the length of the speech is set.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

from benchmarks.random_weights import randomize
from polyvox.bench.texts import ENGLISH
from polyvox.config import Settings
from polyvox.engines.speechlm.bundle import CodecVocabulary
from polyvox.engines.speechlm.engine import SpeechLmEngine
from polyvox.engines.speechlm.loading import SpeechLmNetworks, codec_fidelity, codec_in
from polyvox.engines.speechlm.prompt_builder import END, SPEECH, START, code_text
from polyvox.engines.speechlm.tuning import TOKENS_PER_SECOND
from polyvox.installation import load_settings
from polyvox.models.qwen.model import QwenConfig
from polyvox.models.speechlm.codec_lm import CodecLm, CodecLmConfig
from polyvox.models.speechlm.neucodec import NeuCodec, NeuCodecConfig
from polyvox.runtime.placement import PRECISIONS
from polyvox.types import Utterance

QWEN3_1_7B = QwenConfig(
    hidden=2048, feed_forward=6144, layers=28, heads=16, key_heads=8, head_width=128, qkv_bias=False, qk_norm=True
)
NEUCODEC = NeuCodecConfig()
PUBLISHED = {1: "8.4", 4: "29.2", 16: "81.9", 50: "143.8"}
"""Seconds of audio a second on one H200, as the Streamable TTS API's own page gives them."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The networks' sizes; the defaults are those of the published models."""

    backbone: QwenConfig = QWEN3_1_7B
    codec: NeuCodecConfig = NEUCODEC
    codes: int = 65_536


@dataclass(frozen=True, slots=True)
class SpeechLmFigures:
    """Utterances at one level of concurrency, in seconds."""

    at_once: int
    first_audio: tuple[float, ...]
    audio_seconds: float
    seconds: float

    @property
    def speed(self) -> float:
        """Seconds of audio made in one second."""
        return self.audio_seconds / self.seconds


def random_networks(sizes: Sizes, device: torch.device, dtype: torch.dtype) -> SpeechLmNetworks:
    """SpeechLmNetworks of these sizes with seeded weights, and a vocabulary to go with them."""
    torch.manual_seed(0)
    vocabulary = _vocabulary(sizes.codes)
    rows = vocabulary.first_code + sizes.codes
    config = CodecLmConfig(vocabulary.first_code, vocabulary.end, sizes.codes, replace(sizes.backbone, vocabulary=rows))
    with torch.device(device):
        lm, exact = randomize(CodecLm(config), dtype), randomize(NeuCodec(sizes.codec), torch.float32)
    lm.head[lm.end] = 0.0  # a score that is hardly ever the one drawn, so that speech has the length it is given
    codec = codec_in("auto", exact)
    if codec is not exact:
        print(f"codec in {codec.enter.weight.dtype}: {codec_fidelity(exact, codec):.1f} dB above its rounding")
    return SpeechLmNetworks(codec, device, lm, vocabulary)


def _vocabulary(codes: int) -> CodecVocabulary:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: index for index, letter in enumerate(letters)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in (START, END)])
    tokenizer.add_tokens([SPEECH, *(code_text(code) for code in range(codes))])
    return CodecVocabulary(tokenizer, len(letters) + 3, codes, len(letters) + 1)


async def measured(engine: SpeechLmEngine, at_once: int, utterances: int, tokens: int) -> SpeechLmFigures:
    """Speak so many utterances, `at_once` of them concurrently."""
    slots = asyncio.Semaphore(at_once)
    first_audio: list[float] = []
    audio: list[float] = []

    async def speak(number: int) -> None:
        async with slots:
            began = time.perf_counter()
            text = ENGLISH[number % len(ENGLISH)]
            utterance = Utterance(text, engine.voices[0].id, seed=number, tuning={"max_tokens": float(tokens)})
            chunks = [(time.perf_counter() - began, chunk.duration) async for chunk in engine.speak(utterance)]
            first_audio.append(chunks[0][0])
            audio.append(sum(duration for _, duration in chunks))

    began = time.perf_counter()
    await asyncio.gather(*map(speak, range(utterances)))
    return SpeechLmFigures(at_once, tuple(first_audio), sum(audio), time.perf_counter() - began)


async def run(
    networks: SpeechLmNetworks, settings: Settings, at_once: Sequence[int], tokens: int
) -> list[SpeechLmFigures]:
    """All figures, each after a round that warms up."""
    engine = SpeechLmEngine(settings)
    await engine.start_with(networks)
    try:
        found = []
        for count in at_once:
            await measured(engine, count, count, tokens)
            found.append(await measured(engine, count, max(16, 2 * count), tokens))
        return found
    finally:
        await engine.close()


def report(figures: Sequence[SpeechLmFigures]) -> str:
    """The figures as text, beside those published for the original."""
    lines = ["at once  first audio p50 ms  max ms  audio s a second  the original's"]
    for each in figures:
        first = [1000 * seconds for seconds in each.first_audio]
        lines.append(
            f"{each.at_once:7d}  {statistics.median(first):18.0f}  {max(first):6.0f}  {each.speed:16.1f}  "
            f"{PUBLISHED.get(each.at_once, ''):>14s}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--precision", choices=sorted(PRECISIONS), default="bfloat16")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each utterance")
    parser.add_argument("--at-once", type=int, nargs="+", default=[1, 4, 16, 50])
    given = parser.parse_args()
    networks = random_networks(Sizes(), torch.device(given.device), PRECISIONS[given.precision])
    settings = load_settings(speechlm_cache_bytes=48 << 30, max_sessions=max(given.at_once), speechlm_prefill_rows=2048)
    figures = asyncio.run(run(networks, settings, given.at_once, int(given.seconds * TOKENS_PER_SECOND)))
    print(report(figures), flush=True)
    if given.device == "cuda":
        print(f"memory: {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB at most")


if __name__ == "__main__":
    main()
