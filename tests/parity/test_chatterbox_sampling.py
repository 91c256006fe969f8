"""Chatterbox's speech tokens are drawn from the original's probabilities, and are the original's to the last."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from helpers.chatterbox_t3_golden import golden, race, runs, t3, text_ids, turbo
from helpers.replaying import Poisoned
from polyvox.engines.chatterbox.lm_adapter import T3Tokens
from polyvox.engines.chatterbox.sampling import TURBO_SAMPLING, T3Sampling
from polyvox.engines.chatterbox.speech_tokens import SILENT_TAIL, T3Conditions
from polyvox.models.qwen.model import QwenState
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import Replay
from polyvox.runtime.lm_scheduler import LmSchedulerConfig
from polyvox.runtime.sampling import sampler
from polyvox.runtime.sampling.sampler import Sampler, SamplingPlan
from polyvox.runtime.tokens import GenerationLimits, SamplingParams

CPU = torch.device("cpu")
CONFIG = LmSchedulerConfig(slots=3, capacity=512, prefill_rows=64, prefix_bytes=1 << 20)
PROCESSORS = {
    "standard0": SamplingParams(repetition_penalty=1.2, temperature=0.8, min_p=0.05),
    "standard1": SamplingParams(repetition_penalty=2.0, temperature=1.3, min_p=0.02, top_p=0.8),
    "standard2": SamplingParams(repetition_penalty=1.0, temperature=0.5, min_p=0.2, top_p=0.95),
    "turbo0": SamplingParams(repetition_penalty=1.2, temperature=0.8, top_k=1000, top_p=0.95),
    "turbo1": SamplingParams(repetition_penalty=1.5, temperature=1.0, top_k=50, top_p=0.9),
}


def test_what_is_drawn_from_is_the_originals(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Tensor] = []

    def noted(weights: Tensor, uniform: Tensor) -> Tensor:
        drawn.append(weights[0] / weights.sum())
        return weights.argmax(dim=-1)

    monkeypatch.setattr(sampler, "sample_index", noted)
    recorded = golden("samplers")
    for name, rule in PROCESSORS.items():
        logits, history = recorded[f"{name}.logits"], recorded[f"{name}.history"].tolist()
        tested = Sampler(1, len(logits), CPU, nested=True, late_penalty=name.startswith("turbo"))
        tested.start(0, rule, 0, history)
        tested.set_limits(0, GenerationLimits(max_tokens=10))
        tested.sample(logits[None], torch.tensor([0]), SamplingPlan.of([rule], len(logits)))
        torch.testing.assert_close(drawn.pop(), recorded[f"{name}.probabilities"], rtol=0, atol=1e-6, msg=name)


def voice(run: str) -> T3Conditions:
    """The runs of the token networks alone have the voice of the whole English one."""
    recorded, name = golden("t3"), run if run.startswith("whole_") else "whole_english"
    return T3Conditions(
        recorded[f"{name}.speaker_emb"].numpy(),
        tuple(recorded[f"{name}.t3_prompt_tokens"].tolist()),
        float(runs()[run].get("exaggeration", 0.5)),
    )


def is_turbo(run: str) -> bool:
    return run.endswith("turbo")


def rule(run: str) -> T3Sampling:
    rule = TURBO_SAMPLING if is_turbo(run) else T3Sampling(cfg_weight=float(runs()[run]["cfg_weight"]))
    return replace(rule, max_tokens=100)


@asynccontextmanager
async def tokens_of(run: str, replay: Replay | None = None) -> AsyncIterator[T3Tokens]:
    executor = DeviceExecutor("t3", 1)
    source = T3Tokens(turbo() if is_turbo(run) else t3(), CONFIG, executor=executor, replay=replay)
    try:
        yield source
    finally:
        await source.close()
        executor.close()


async def spoken(source: T3Tokens, run: str, chosen: T3Sampling, seed: int = 0) -> list[int]:
    async with source.speak_tokens(text_ids(run), voice(run), chosen, seed) as stream:
        return [token async for token in stream]


def wanted(run: str) -> list[int]:
    """The recorded tokens, without the stop token or what was added behind it."""
    whole = run.startswith("whole_")
    tokens: list[int] = golden("t3")[f"{run}.tokens" if whole else f"{run}.sampled.tokens"].tolist()
    behind = {"en": 1, "mtl": 1, "whole_turbo": len(SILENT_TAIL)}.get(run, 0)
    return tokens[: len(tokens) - behind]


def racing(seed: int) -> Callable[[Tensor, Tensor], Tensor]:
    """Draws of one sequence alone, by the recorded recipe."""
    seeds = iter(range(seed, seed + 1000))
    return lambda weights, _uniform: torch.tensor([race(weights[0], next(seeds))])


@pytest.mark.anyio
async def test_tokens_are_the_originals_to_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    for run in runs():
        async with tokens_of(run) as source:
            monkeypatch.setattr(sampler, "sample_index", racing(int(runs()[run]["token_seed"])))
            assert await spoken(source, run, rule(run)) == wanted(run), run


@pytest.mark.anyio
async def test_tokens_depend_neither_on_the_batch_nor_on_cached_voices() -> None:
    for runs_of in (("en", "mtl"), ("turbo",)):
        async with tokens_of(runs_of[0]) as source:
            asked = [(run, replace(rule(run), max_tokens=12), seed) for run in runs_of for seed in (1, 2)]
            alone = [await spoken(source, *each) for each in asked]
            assert len({tuple(each) for each in alone}) == len(alone)
            together = await asyncio.gather(*(spoken(source, *each) for each in asked))
            assert together == alone


@pytest.mark.long
@pytest.mark.anyio
async def test_captured_steps_sample_what_the_plain_ones_do() -> None:
    for run in ("mtl", "turbo"):
        short = replace(rule(run), max_tokens=8)
        async with tokens_of(run) as source:
            plain = [await spoken(source, run, short, seed) for seed in (1, 2)]
        replay = Poisoned()
        async with tokens_of(run, replay) as source:
            captured = await asyncio.gather(*(spoken(source, run, short, seed) for seed in (1, 2)))
            assert captured == plain
        assert {key[0] for key in replay.recorded} == {"prefill", "decode"}


@pytest.mark.anyio
async def test_with_a_guidance_of_zero_the_tokens_are_those_of_the_text_alone() -> None:
    count, network, given = 12, t3(), voice("en")
    with torch.inference_mode():
        speaker, prompt = torch.from_numpy(given.speaker_embedding), torch.tensor(given.prompt_tokens)
        rows = network.prompt_rows(network.condition_rows(speaker, prompt, given.exaggeration), text_ids("en"))[:, 0]
        alone: list[int] = []
        state = QwenState()
        while len(alone) < count:
            hidden, state = network.backbone(rows[None], state)
            alone.append(int(network.logits(hidden[0, -1]).argmax()))
            rows = network.token_rows(torch.tensor(alone[-1:]), torch.tensor([len(alone)]))
    greedy = T3Sampling(temperature=0.0, repetition_penalty=1.0, cfg_weight=0.0, max_tokens=count)
    async with tokens_of("en") as source:
        assert await spoken(source, "en", greedy) == alone
        assert await spoken(source, "en", replace(greedy, cfg_weight=1.0)) != alone


def test_speech_may_be_as_long_as_its_text_could_take() -> None:
    for given, ids, most in (
        (T3Sampling(), 2, 99),
        (T3Sampling(), 100, 1000),
        (T3Sampling(max_tokens=50), 100, 50),
        (TURBO_SAMPLING, 2, 135),
    ):
        assert given.within(ids) == replace(given, max_tokens=most)


@pytest.mark.anyio
async def test_texts_and_voices_that_the_network_cannot_hold_are_refused_before_the_device() -> None:
    good = voice("en")
    speaker, prompt = good.speaker_embedding, good.prompt_tokens
    faults = {
        "nothing to say": ((), good),
        "at most 254 ids": ([5] * 255, good),
        "beyond the network's 2454": ([2454], good),
        "24 finite values": ([5], T3Conditions(np.full(24, np.nan, np.float32), prompt)),
        "has 24": ([5], T3Conditions(speaker[:5], prompt)),
        "1 to 150 speech tokens, not 0": ([5], T3Conditions(speaker, ())),
        "not 151": ([5], T3Conditions(speaker, (1,) * 151)),
        "below 6561": ([5], T3Conditions(speaker, (6561,))),
    }
    async with tokens_of("en") as source:
        for complaint, (ids, conditions) in faults.items():
            with pytest.raises(Exception, match=complaint):
                async with source.speak_tokens(ids, conditions, T3Sampling(max_tokens=9), 0):
                    pass
