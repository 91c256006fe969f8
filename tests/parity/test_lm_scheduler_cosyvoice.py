"""CosyVoice's language model on the shared runtime: the same tokens as step by step, text at once or as it arrives."""

import asyncio

import pytest

from helpers.cosyvoice_golden import END_OF_PROMPT, SPEECH_IDS, embed_feed, golden, lm, lm_prompt
from polyvox.models.cosyvoice.bistream import Bistream
from polyvox.models.qwen.model import QwenState
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.lm_scheduler import LmScheduler, LmSchedulerConfig
from polyvox.runtime.tokens import GenerationLimits, Prompt, SamplingParams

pytestmark = pytest.mark.anyio

GREEDY = SamplingParams(temperature=0.0)


class Adapted:
    """The model in the runtime's words."""

    def __init__(self, version):
        self.model = lm(version)
        self.backbone = self.model.backbone
        self.vocabulary = self.model.config.speech.rows
        self.embed_ids, self.embed_tokens = self.model.embed_text, self.model.embed_speech
        self.logits = self.model.scores


@pytest.fixture
async def device():
    executor = DeviceExecutor("test-lm", 1)
    yield executor
    await asyncio.to_thread(executor.close)


def runtime(version, device):
    return LmScheduler(Adapted(version), LmSchedulerConfig(slots=4, capacity=512, prefill_rows=16), executor=device)


@pytest.mark.long
@pytest.mark.parametrize("version", [2, 3])
async def test_greedy_tokens_are_those_of_the_original(version, device):
    expected = golden(version, "llm")["greedy.tokens"].tolist()
    prompt = Prompt(embeds=lm(version).embed_prompt(lm_prompt(version))[0])
    speech_only = GenerationLimits(
        len(expected), banned_tokens=frozenset(range(SPEECH_IDS, lm(version).config.speech.rows))
    )
    async with runtime(version, device).generate(prompt, GREEDY, speech_only) as stream:
        assert [token async for token in stream] == expected


def bistream(version):
    text = tuple(lm_prompt(version).prompt_text[0].tolist())
    cut = text.index(END_OF_PROMPT) + 1 if version == 3 else 0
    speech = tuple(lm_prompt(version).prompt_speech[0].tolist())
    return Bistream.start(lm(version).config.speech, text[cut:], speech, opening=text[:cut])


def arriving(version):
    """The text id by id, then its end."""
    return [*((text,) for text in golden(version, "llm")["bistream.text"][0].tolist()), ()]


def step_by_step(version, most):
    """Greedy tokens of text that arrives, by the model alone."""
    plan, state, spoken, left = bistream(version), QwenState(), [], most
    for text in arriving(version):
        plan = plan.push(text, last=not text)
        while plan.feed and left:
            hidden, state = lm(version).backbone(embed_feed(version, plan.feed), state)
            scores = lm(version).scores(hidden[0, -1])
            for ids in plan.suppressed:
                scores[ids] = float("-inf")
            token = int(scores.argmax()) if plan.forced is None else plan.forced
            left -= plan.final
            spoken += [token] if token < SPEECH_IDS else []
            plan = plan.accept(token)
    return spoken


def limits_of(plan, most):
    """Until the turn is over, or until the speech is."""
    rows, speech, fill = plan.vocabulary.rows, plan.vocabulary.speech, plan.vocabulary.fill
    if plan.final:
        return GenerationLimits(most, stop_tokens=frozenset(range(speech, rows)))
    others = frozenset(range(speech, rows)) - {fill}
    return GenerationLimits(plan.fill_at - plan.produced, stop_tokens=frozenset({fill}), banned_tokens=others)


@pytest.mark.long
@pytest.mark.parametrize("version", [2, 3])
async def test_text_that_arrives_is_spoken_as_step_by_step(version, device):
    most, spoken, plan = 40, [], bistream(version)
    async with runtime(version, device).open(GREEDY) as sequence:
        for text in arriving(version):
            plan = plan.push(text, last=not text)
            while plan.feed and not plan.done:
                rows = embed_feed(version, plan.feed)[0]
                turn = [token async for token in sequence.extend(Prompt(embeds=rows), limits_of(plan, most))]
                spoken += turn
                for token in (*turn, plan.vocabulary.eos if plan.final else plan.vocabulary.fill):
                    plan = plan.accept(token)
    assert len(spoken) > 30
    assert spoken == step_by_step(version, most)
