"""Qwen3-TTS' talker and code predictor compute what the original computes: rows, logits and codes of every mode."""

import json

import pytest
import torch
from torch import Tensor

from helpers.qwen3tts_golden import FOLDER, cases, config, golden, input_rows, single_cases, talker, tensor, weights
from polyvox.models.loading import WeightsError
from polyvox.models.qwen.model import QwenState
from polyvox.models.qwen3tts.config import Qwen3TtsConfig
from polyvox.models.qwen3tts.talker import Talker, load_talker

TOLERANCE = 2e-5
_MIN_FRAMES = 2


@pytest.fixture(autouse=True)
def _inference() -> object:
    with torch.inference_mode():
        yield


def close(got: Tensor, wanted: Tensor, tolerance: float = TOLERANCE) -> None:
    torch.testing.assert_close(got, wanted, rtol=0, atol=tolerance)


def model_of(case: str) -> Talker:
    return talker(str(cases()[case]["model"]))


def frame(model: Talker, hidden: Tensor, first: Tensor) -> tuple[Tensor, list[Tensor]]:
    """The likeliest codes [1, groups] behind a first code, and the logits of each group."""
    codes, every = [first], []
    logits, state = model.predictor.begin(hidden, model.codec_rows(first))
    for group in range(1, model.config.groups):
        every.append(logits[0])
        codes.append(logits.argmax(dim=-1))
        if group < model.config.groups - 1:
            logits, state = model.predictor.go_on(group, codes[-1], state)
    return torch.stack(codes, dim=-1), every


def test_rows_of_every_mode_are_the_originals() -> None:
    for name in (*single_cases(), *single_cases(sampled=True)):
        rows = input_rows(name)
        close(rows.prompt, tensor(f"{name}.inputs_embeds")[0], 2e-6)
        trailing = tensor(f"{name}.trailing_text_hidden")[0]
        if len(rows.trailing):
            close(rows.trailing, trailing, 2e-6)
        else:
            assert len(trailing) == 1


@pytest.mark.long
def test_greedy_codes_and_logits_of_every_mode_are_the_originals() -> None:
    for name in single_cases():
        model, rows = model_of(name), input_rows(name)
        wanted = tensor(f"{name}.codes").long()
        pad = model.text_rows(torch.tensor([model.config.text_ids.pad]))
        hidden, state = model.backbone(rows.prompt[None], QwenState())
        close(hidden[0], tensor(f"{name}.prefill_hidden")[0])
        for index, codes in enumerate(wanted):
            close(model.logits(hidden[0, -1])[:96], tensor(f"{name}.talker_logits")[index])
            got, logits = frame(model, hidden[:, -1], codes[:1])
            close(torch.stack(logits), tensor(f"{name}.predictor_logits")[index])
            assert torch.equal(got[0], codes), (name, index)
            text = rows.trailing[index : index + 1] if index < len(rows.trailing) else pad
            row = model.frame_rows(got) + text
            close(row[0], tensor(f"{name}.step_embeds")[index])
            hidden, state = model.backbone(row[:, None], state)


def test_weights_and_sizes_that_do_not_fit_are_refused_by_name() -> None:
    given = {key: each for key, each in weights("base").items() if not key.endswith("codec_embedding.2.weight")}
    with pytest.raises(WeightsError, match=r"tables"):
        load_talker(config("base"), given)
    published = json.loads((FOLDER / "modeldir" / "base" / "config.json").read_text())
    del published["talker_config"]["code_predictor_config"]["hidden_size"]
    with pytest.raises(WeightsError, match=r"talker_config\.code_predictor_config\.hidden_size"):
        Qwen3TtsConfig.parse(published)


def test_the_recorded_calls_are_all_there() -> None:
    assert len(single_cases()) == 11
    assert len(single_cases(sampled=True)) == 2
    assert golden("sampled")["sampled.talker_probs"].shape[0] > _MIN_FRAMES
