"""A talker and its code predictor on the scheduler: the codes do not depend on the batch, or on when text comes."""

import asyncio
from dataclasses import replace

import pytest

from helpers.qwen3tts_golden import cases, ids, input_rows, single_cases, talker, tensor
from polyvox.engines.qwen3tts.frame_steps import PredictorSteps
from polyvox.models.qwen3tts.talker_lm import TalkerLm
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.lm_scheduler import LmScheduler, LmSchedulerConfig
from polyvox.runtime.tokens import GenerationLimits, Prompt, SamplingParams

pytestmark = pytest.mark.long

GREEDY = SamplingParams(temperature=0.0, repetition_penalty=1.05)
LIKELIEST = SamplingParams(temperature=0.0)
CONFIG = LmSchedulerConfig(slots=4, capacity=128, nested_top_p=True, prefix_bytes=1 << 20)
_ROLE, _TEXT_END = 3, -5


def scheduler(model: str) -> LmScheduler:
    network = talker(model)
    frames = PredictorSteps(network, CONFIG.slots, 64, fused=False)
    return LmScheduler(TalkerLm(network), CONFIG, executor=DeviceExecutor("lm", 1), frames=frames)


def trailing_ids(name: str) -> tuple[int, ...]:
    """Text behind what the prompt holds, and the mark of its end."""
    model, count = talker(str(cases()[name]["model"])), len(input_rows(name).trailing)
    every = (*ids(f"{name}.input_ids")[_ROLE:_TEXT_END], model.config.text_ids.eos)
    return every[len(every) - count :] if count else ()


async def spoken(
    lm: LmScheduler, name: str, sampling: SamplingParams = GREEDY, frame: SamplingParams = LIKELIEST
) -> list[list[int]]:
    model, rows = talker(str(cases()[name]["model"])), input_rows(name)
    limits = GenerationLimits(max_tokens=31, min_tokens=2, stop_tokens=frozenset({model.config.codes}))
    async with lm.open(sampling, frame) as sequence:
        sequence.add_text(trailing_ids(name), ended=True)
        stream = sequence.extend(Prompt(embeds=rows.prompt, shared=rows.shared, key=name), limits)
        codes: list[int] = []
        while read := await stream.read():
            codes += read
    groups = model.config.groups
    return [codes[start : start + groups] for start in range(0, len(codes), groups)]


@pytest.mark.anyio
async def test_codes_of_every_mode_are_the_originals_alone_and_together() -> None:
    for model in ("base", "custom_voice", "voice_design"):
        lm, names = scheduler(model), [name for name in single_cases() if cases()[name]["model"] == model]
        for name in names:
            assert await spoken(lm, name) == tensor(f"{name}.codes").tolist(), name
        together = await asyncio.gather(*(spoken(lm, name) for name in names))
        assert together == [tensor(f"{name}.codes").tolist() for name in names]
        await lm.close()


@pytest.mark.anyio
async def test_a_frame_waits_for_its_text_and_then_is_the_same() -> None:
    lm, name = scheduler("custom_voice"), "cv_auto_stream"
    rows, text = input_rows(name), trailing_ids(name)
    limits = GenerationLimits(max_tokens=31, min_tokens=2, stop_tokens=frozenset({talker("custom_voice").config.codes}))
    async with lm.open(GREEDY, LIKELIEST) as sequence:
        sequence.add_text((), ended=False)
        stream = sequence.extend(Prompt(embeds=rows.prompt), limits)
        codes = await stream.read()
        assert len(codes) == 4
        for index, each in enumerate(text):
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(stream.read(), 0.02)
            sequence.add_text((each,), ended=index == len(text) - 1)
            codes += await stream.read()
        while read := await stream.read():
            codes += read
    assert codes == tensor(f"{name}.codes").flatten().tolist()
    await lm.close()


@pytest.mark.anyio
async def test_sampled_codes_depend_on_the_seed_alone() -> None:
    lm, name = scheduler("custom_voice"), "cv_plain"
    sampling = SamplingParams(temperature=0.9, top_k=50, repetition_penalty=1.05, seed=7)
    frame = SamplingParams(temperature=0.9, top_k=50)
    alone = await spoken(lm, name, sampling, frame)
    others = (spoken(lm, name, replace(sampling, seed=seed), frame) for seed in (8, 9))
    together, *different = await asyncio.gather(spoken(lm, name, sampling, frame), *others)
    assert together == alone
    assert all(each != alone for each in different)
    await lm.close()
