"""CosyVoice 1's language model against the original: scores to 1e-4, tokens exactly, on the original's own draws."""

import asyncio
import json

import pytest
import torch

from helpers.cosyvoice1_golden import SPEECH_IDS, TINY_LM, RecordedDraws, lm1, lm1_prompt
from helpers.cosyvoice_golden import FOLDER, assert_near, golden, manifest
from helpers.fixed_shapes import Fixed
from polyvox.engines.cosyvoice.execution import start_lm
from polyvox.engines.cosyvoice.lm_adapter import CosyVoice1LmAdapter
from polyvox.models.cosyvoice.lm import length_limits
from polyvox.models.cosyvoice.lm_v1 import Lm1Config, load_lm1
from polyvox.models.loading import WeightsError
from polyvox.models.qwen.model import QwenState
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.lm_scheduler import LmScheduler, LmSchedulerConfig
from polyvox.runtime.tokens import GenerationLimits, Prompt, SamplingParams

MODES = pytest.mark.parametrize("mode", ["zero_shot", "sft", "instruct"])


def test_the_text_is_encoded_with_its_transcript():
    given, prompt = golden(1, "llm"), lm1_prompt("zero_shot")
    assert_near(lm1().embed_text(torch.cat((prompt.prompt_text, prompt.text), dim=1)), given["text.affine"], 1e-5)
    assert_near(lm1().embed_speaker(prompt)[0], given["spk_proj"], 1e-6)


def test_a_text_is_encoded_the_same_whatever_follows_it():
    ids = torch.cat((lm1_prompt("zero_shot").prompt_text, lm1_prompt("zero_shot").text), dim=1)
    assert_near(lm1().embed_text(ids[:, :7]), lm1().embed_text(ids)[:, :7], 1e-5)


@MODES
def test_each_mode_passes_on_the_rows_of_the_original(mode):
    name = "prefill" if mode == "zero_shot" else f"prefill_{mode}"
    rows = lm1().embed_prompt(lm1_prompt(mode))
    assert_near(rows, golden(1, "llm")[f"{name}.lm_input"], 1e-5)
    hidden, state = lm1().backbone(rows, QwenState())
    assert state.length == rows.shape[1]
    if mode == "zero_shot":
        assert_near(hidden, golden(1, "llm")["prefill.hidden"], 1e-5)
    else:
        assert_near(lm1().llm_decoder(hidden[:, -1]), golden(1, "llm")[f"{name}.last_logits"])


def test_greedy_decoding():
    expected, tokens = golden(1, "llm"), []
    scores, state = lm1().prefill(lm1_prompt("zero_shot"))
    for logp in expected["greedy.logp"]:
        assert_near(scores[0], logp)
        tokens.append(int(scores[0, :SPEECH_IDS].argmax()))
        scores, state = lm1().step(torch.tensor(tokens[-1:]), state)
    assert tokens == expected["greedy.tokens"].tolist()


@pytest.mark.long
@MODES
def test_sampled_sequences(mode):
    expected, draws = golden(1, "llm"), RecordedDraws(mode)
    recorded = manifest(1)["llm"]["ras"][mode]
    prompt = lm1_prompt(mode, recorded["min_len"] // 2)
    limits = length_limits(prompt.text.shape[1], lm1().speech)
    assert (limits.minimum, limits.maximum) == (recorded["min_len"], recorded["max_len"])
    tokens = list(lm1().generate(prompt, lambda scores, step: draws(scores), limits))
    assert tokens == expected[f"ras_{mode}.tokens"].tolist()
    assert draws.tokens == expected[f"ras_{mode}.sampled"].tolist()
    assert draws.rejected == expected[f"ras_{mode}.nucleus_rejected"].tolist()
    if mode != "sft":
        torch.testing.assert_close(torch.stack(draws.scores)[::8], expected[f"ras_{mode}.scores"], atol=1e-4, rtol=0)


@pytest.mark.long
@pytest.mark.anyio
async def test_the_scheduler_batches_sequences_of_different_lengths_without_changing_their_tokens():
    """The original's greedy tokens, decoded beside two other sequences that stand at other positions."""
    expected, executor = golden(1, "llm")["greedy.tokens"].tolist(), DeviceExecutor("test-lm", 1)
    adapter = CosyVoice1LmAdapter(lm1(), executor)
    scheduler = LmScheduler(adapter, LmSchedulerConfig(slots=4, capacity=512, prefill_rows=16), executor=executor)
    limits = GenerationLimits(len(expected), banned_tokens=frozenset({SPEECH_IDS}))

    async def greedy(prompt):
        rows = lm1().embed_prompt(prompt)[0]
        async with scheduler.generate(Prompt(embeds=rows), SamplingParams(temperature=0.0), limits) as stream:
            return [token async for token in stream]

    prompts = [lm1_prompt(mode) for mode in ("sft", "zero_shot", "instruct")]
    together = await asyncio.gather(*map(greedy, prompts))
    assert together[1] == expected
    assert [await greedy(prompt) for prompt in prompts] == together
    await scheduler.close()
    await asyncio.to_thread(executor.close)


@pytest.mark.long
@pytest.mark.anyio
async def test_captured_steps_sample_the_tokens_of_eager_ones():
    executor, replay = DeviceExecutor("test-lm", 1), Fixed()
    adapter, sizes = CosyVoice1LmAdapter(lm1(), executor), LmSchedulerConfig(slots=2, capacity=512, prefill_rows=64)
    sampling = SamplingParams(top_k=25, top_p=0.8, repeat_window=10, seed=7)
    captured, warning = await start_lm(adapter, sizes, sampling, executor, lambda: replay)
    eager, _ = await start_lm(adapter, sizes, sampling, executor, None)
    assert warning == ""
    assert replay.recorded > 0
    rows, heard = lm1().embed_prompt(lm1_prompt("zero_shot"))[0], []
    for scheduler in (captured, eager):
        async with scheduler.generate(Prompt(embeds=rows), sampling, GenerationLimits(60)) as stream:
            heard.append([token async for token in stream])
        await scheduler.close()
    assert heard[0] == heard[1]
    assert len(heard[0]) == 60
    await asyncio.to_thread(executor.close)


def test_the_released_weights_fit():
    shapes = json.loads((FOLDER / "cosyvoice1" / "released_shapes.json").read_text())["llm"]
    model = load_lm1(Lm1Config(), {name: torch.empty(shape, device="meta") for name, shape in shapes.items()})
    assert model.llm_decoder.weight.shape == (4097, 1024)


def test_weights_without_the_start_tokens_are_refused():
    weights = {name: each for name, each in golden(1, "weights_llm").items() if name != "llm_embedding.weight"}
    with pytest.raises(WeightsError, match=r"lack rows 0 and 1 of llm_embedding\.weight"):
        load_lm1(TINY_LM, weights)
