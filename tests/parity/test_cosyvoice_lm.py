"""CosyVoice's language model against the original: scores to 1e-4, tokens exactly, on the original's own draws."""

import pytest
import torch

from helpers.cosyvoice_golden import (
    END_OF_PROMPT,
    SPEECH_IDS,
    TOLERANCE,
    OriginalDraws,
    assert_near,
    embed_feed,
    golden,
    lm,
    lm_prompt,
    manifest,
)
from helpers.tables import each_row
from polyvox.models.cosyvoice.bistream import Bistream
from polyvox.models.cosyvoice.lm import SpeechPrompt, length_limits
from polyvox.models.qwen.model import QwenState

pytestmark = pytest.mark.long


@each_row("version", [2, 3])
def test_prefill_embeds_and_decodes_the_prompt(version):
    rows = lm(version).embed_prompt(lm_prompt(version))
    assert_near(rows, golden(version, "llm")["prefill.lm_input"])
    hidden, state = lm(version).backbone(rows, QwenState())
    assert_near(hidden, golden(version, "llm")["prefill.hidden"])
    assert state.length == rows.shape[1]


@each_row("version", [2, 3])
def test_greedy_decoding(version):
    expected = golden(version, "llm")
    scores, state = lm(version).prefill(lm_prompt(version))
    tokens = []
    for logp in expected["greedy.logp"]:
        assert_near(scores[0], logp)
        tokens.append(int(scores[0, :SPEECH_IDS].argmax()))
        scores, state = lm(version).step(torch.tensor(tokens[-1:]), state)
    assert tokens == expected["greedy.tokens"].tolist()


@each_row(("version", "seed"), [(2, 1234), (2, 2004), (3, 1234), (3, 2003), (3, 2002)])
def test_sampled_sequences(version, seed):
    expected = golden(version, "llm")
    original = OriginalDraws(seed)
    limits = length_limits(lm_prompt(version).text.shape[1], lm(version).config.speech, original=True)
    tokens = list(lm(version).generate(lm_prompt(version), lambda scores, step: original(scores), limits))
    assert tokens == expected[f"ras{seed}.tokens"].tolist()
    assert original.tokens == expected[f"ras{seed}.sampled"].tolist()
    assert original.redrawn == (expected[f"ras{seed}.nucleus_rejected"] >= 0).tolist()
    scores, kept = torch.stack(original.scores), golden(version, "stages").get(f"ras{seed}.scores")
    if kept is None:
        torch.testing.assert_close(scores, expected[f"ras{seed}.scores"], atol=TOLERANCE, rtol=0)
    else:
        torch.testing.assert_close(scores[:: max(1, len(scores) // 16)], kept, atol=TOLERANCE, rtol=0)


@each_row("seed", [1234, 2002])
def test_version_3_keeps_its_least_length_unless_asked_to_repeat_the_original(seed):
    prompt, original = lm_prompt(3), OriginalDraws(seed)
    limits = length_limits(prompt.text.shape[1], lm(3).config.speech)
    tokens = list(lm(3).generate(prompt, lambda scores, step: original(scores), limits))
    assert len(tokens) >= limits.minimum > len(golden(3, "llm")[f"ras{seed}.tokens"])


def bistream(version, *, original):
    """A plan that holds the prompt, as the original splits it: version 3 begins with its system text."""
    text = tuple(lm_prompt(version).prompt_text[0].tolist())
    cut = text.index(END_OF_PROMPT) + 1 if version == 3 else 0
    speech = tuple(lm_prompt(version).prompt_speech[0].tolist())
    vocabulary = lm(version).config.speech
    return Bistream.start(vocabulary, text[cut:], speech, opening=text[:cut], original=original)


@each_row("version", [2, 3])
def test_text_that_arrives_id_by_id(version):
    expected = golden(version, "llm")
    draws = OriginalDraws(manifest(version)["llm"]["bistream"]["seed"])
    plan, state = bistream(version, original=True), QwenState()
    inputs, hiddens, spoken, sampled = [], [], [], []
    for text in [*expected["bistream.text"][0].tolist(), None]:
        plan = plan.push((), last=True) if text is None else plan.push((text,))
        while plan.feed:
            inputs.append(embed_feed(version, plan.feed)[0])
            hidden, state = lm(version).backbone(inputs[-1][None], state)
            hiddens.append(hidden[0, -1])
            if plan.forced is None:
                scores = lm(version).scores(hidden[0, -1])
                for ids in plan.suppressed:
                    scores[ids] = float("-inf")
                sampled.append(draws(scores))
                token = sampled[-1]
            else:
                draws.tokens.append(token := plan.forced)
            spoken += [token] if token < SPEECH_IDS else []
            plan = plan.accept(token)
    assert plan.done
    assert spoken == expected["bistream.tokens"].tolist()
    assert sampled == expected["bistream.sampled"].tolist()
    assert [len(rows) for rows in inputs] == expected["bistream.step_lens"].tolist()
    assert_near(torch.cat(inputs), expected["bistream.step_inputs"])
    assert_near(torch.stack(hiddens), expected["bistream.last_hidden"])


def test_a_batch_decodes_each_of_its_sequences_as_if_alone():
    prompt = lm_prompt(2)
    reversed_text = lm_prompt(2).text.flip(1)
    both, _ = lm(2).prefill(
        SpeechPrompt(
            torch.cat((prompt.text, reversed_text)),
            prompt.prompt_text.expand(2, -1),
            prompt.prompt_speech.expand(2, -1),
        )
    )
    alone, _ = lm(2).prefill(SpeechPrompt(reversed_text, prompt.prompt_text, prompt.prompt_speech))
    assert_near(both[1:], alone, 1e-5)
