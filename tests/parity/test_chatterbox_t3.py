"""Chatterbox's token networks compute what the original computes: rows of the prompt, and logits of every step."""

import pytest
import torch
from torch import Tensor

from helpers.chatterbox_t3_golden import GPT2, LLAMA, golden, published, runs, t3, text_ids, turbo
from polyvox.models.chatterbox.t3 import load_t3, load_turbo_t3
from polyvox.models.loading import WeightsError
from polyvox.models.qwen.model import QwenState

TOLERANCE = 2e-5
_EVERY = 16
"""One of so many logits of the first steps is recorded."""


@pytest.fixture(autouse=True)
def _inference() -> object:
    with torch.inference_mode():
        yield


def close(got: Tensor, wanted: Tensor, tolerance: float = TOLERANCE) -> None:
    torch.testing.assert_close(got, wanted, rtol=0, atol=tolerance)


def test_rows_of_the_voice_and_of_the_prompt_are_the_originals() -> None:
    recorded, model = golden("t3"), t3()
    speaker, prompt = recorded["whole_english.speaker_emb"], recorded["whole_english.t3_prompt_tokens"]
    speech = model.token_rows(prompt, torch.arange(len(prompt)))[None]
    close(model.perceiver.attended(model.perceiver.queries, speech)[0], recorded["en.perceiver_first"], 2e-6)
    for run in ("en", "mtl"):
        condition = model.condition_rows(speaker, prompt, float(runs()[run]["exaggeration"]))
        close(condition, recorded[f"{run}.conditioning"], 2e-6)
        rows = model.prompt_rows(condition, text_ids(run)).transpose(0, 1)
        close(rows[:, :-1], recorded[f"{run}.inputs"], 2e-6)
        assert torch.equal(rows[:, -1], rows[:, -2]), "the start of speech stands twice"


def test_logits_of_every_step_with_and_without_guidance_are_the_originals() -> None:
    recorded, model = golden("t3"), t3()
    speaker, prompt = recorded["whole_english.speaker_emb"], recorded["whole_english.t3_prompt_tokens"]
    for run in ("en", "mtl"):
        condition = model.condition_rows(speaker, prompt, float(runs()[run]["exaggeration"]))
        rows = model.prompt_rows(condition, text_ids(run)).transpose(0, 1)
        hidden, state = model.backbone(rows, QwenState())
        for index, token in enumerate(recorded[f"{run}.greedy.tokens"]):
            logits = model.logits(hidden[:, -1])
            close(logits[:, token], recorded[f"{run}.greedy.logits_chosen"][index])
            if index < len(recorded[f"{run}.greedy.logits"]):
                close(logits[:, ::_EVERY], recorded[f"{run}.greedy.logits"][index])
            row = model.token_rows(token[None, None], torch.tensor([[index + 1]]))
            hidden, state = model.backbone(row.expand(2, 1, -1), state)


def test_rows_and_logits_of_turbo_are_the_originals() -> None:
    recorded, model = golden("t3"), turbo()
    condition = model.condition_rows(recorded["whole_english.speaker_emb"], recorded["whole_english.t3_prompt_tokens"])
    rows = model.prompt_rows(condition, text_ids("turbo"))
    close(rows, recorded["turbo.inputs"], 2e-6)
    hidden, state = model.backbone(rows[None], QwenState())
    for index, token in enumerate(recorded["turbo.greedy.tokens"]):
        logits = model.logits(hidden[0, -1])
        close(logits[token], recorded["turbo.greedy.logits_chosen"][index])
        if index < len(recorded["turbo.greedy.logits"]):
            close(logits[::_EVERY], recorded["turbo.greedy.logits"][index])
        hidden, state = model.backbone(model.token_rows(token[None, None]), state)


def test_weights_that_do_not_fit_are_refused_by_name() -> None:
    for name, removed, complaint in (
        ("t3_llama", "speech_head.weight", "speech_head"),
        ("t3_llama", "cond_enc.perceiver.pre_attention_query", "queries"),
        ("t3_gpt2", "speech_head.bias", "speech_bias"),
        ("t3_gpt2", "tfmr.h.1.mlp.c_fc.weight", r"layers\.1\.c_in"),
    ):
        given = published(name)
        del given[removed]
        with pytest.raises(WeightsError, match=complaint):
            _ = load_t3(LLAMA, given) if name == "t3_llama" else load_turbo_t3(GPT2, given)


def test_tables_of_too_few_speech_ids_are_refused() -> None:
    given = published("t3_gpt2")
    given["speech_emb.weight"] = given["speech_emb.weight"][:-1]
    with pytest.raises(WeightsError, match="row 6562"):
        load_turbo_t3(GPT2, given)
