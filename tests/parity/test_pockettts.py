"""Pocket TTS' networks compute what the original computes, stage by stage, whole and in pieces."""

import json
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from helpers.pockettts_golden import (
    FOLDER,
    cases,
    codec_decoder,
    codec_encoder,
    config,
    flow_head,
    flow_lm,
    recorded,
    voice_prompt,
    weights,
)
from polyvox.engines.pockettts.text import TextDivider, TextRules
from polyvox.models.loading import WeightsError
from polyvox.models.pockettts.codec_decoder import load_codec_decoder
from polyvox.models.pockettts.config import HeadConfig, PocketConfig
from polyvox.models.pockettts.flow_head import FlowHead
from polyvox.models.pockettts.flow_lm import KvRows, load_flow_lm
from polyvox.text.tokenizers.sentence_pieces import sentence_pieces

MODELS = ("main", "small")
TOLERANCE = 2e-5
LOOP_TOLERANCE = 1e-4
CPU = torch.device("cpu")


def close(got: Tensor, wanted: Tensor, tolerance: float = TOLERANCE) -> None:
    torch.testing.assert_close(got, wanted, rtol=0, atol=tolerance)


@pytest.fixture(autouse=True)
def _inference() -> object:
    with torch.inference_mode():
        yield


def test_texts_are_divided_and_tokenised_as_the_original_does() -> None:
    found = json.loads((FOLDER / "text.json").read_text())
    for path in (FOLDER / "main" / "tokenizer.json", FOLDER / "small" / "tokenizer.model"):
        tokenizer = sentence_pieces(path)
        for case in found["cases"]:
            options = found["options"][case["options"]]
            rules = TextRules(options["repl"], options["pad"], options["semi"], options["punct"], options["cap"])
            chunks = TextDivider(tokenizer, rules).chunks(case["text"], case["max_tokens"])
            wanted = [(each["spoken"], each["ids"]) for each in case.get("chunks", [])]
            assert [(each.text, list(each.ids)) for each in chunks] == wanted
            limits = [(each["frames_after_eos"], each["max_gen_len"]) for each in case.get("chunks", [])]
            assert [(each.tail, each.max_frames) for each in chunks] == limits


def test_a_sentence_without_a_comma_is_cut_at_blanks_where_it_is_far_too_long() -> None:
    divider = TextDivider(sentence_pieces(FOLDER / "main" / "tokenizer.json"), TextRules())
    chunks = divider.chunks("word " * 500 + "ξ" * 900)
    assert max(len(each.ids) for each in chunks) <= 140
    assert sum(each.text.lower().count("word") for each in chunks) == 500


def test_noise_becomes_the_originals_latents_in_any_number_of_steps() -> None:
    found = recorded()
    for model, counts in (("main", (1, 2, 4)), ("small", (1,))):
        head = flow_head(model)
        for steps in counts:
            given = found[f"{model}.head.cond"], found[f"{model}.head.noise"]
            close(head(*given, head.times(steps)), found[f"{model}.head.steps{steps}/sample"])


def test_a_drifting_head_gives_its_output_without_the_noise() -> None:
    pointwise, found = flow_head("small"), recorded()
    condition, noise = found["small.head.cond"], found["small.head.noise"]
    sizes = pointwise.config
    drifting = FlowHead(HeadConfig("drifting", sizes.width, sizes.depth), condition.shape[1], noise.shape[1])
    drifting.load_state_dict(pointwise.state_dict())
    close(drifting(condition, noise, drifting.times(1)) + noise, found["small.head.steps1/sample"])


def test_a_recording_becomes_the_originals_voice_state() -> None:
    for model in MODELS:
        found, lm = recorded(), flow_lm(model)
        latents = codec_encoder(model)(voice_prompt())
        close(latents, found[f"{model}.voice.latents"])
        rows, cache = lm.embedding.of_voice(latents[None]), KvRows.empty(config(model), 1, 32, CPU, torch.float32)
        lm(rows, torch.zeros(1, dtype=torch.long), cache)
        for index in range(config(model).transformer.layers):
            both = torch.stack((cache.keys[index], cache.values[index])).transpose(2, 3)[:, :, : rows.shape[1]]
            close(both, found[f"{model}.voice.cache{index}"])


def test_latents_become_the_originals_samples_however_they_are_grouped() -> None:
    for model in MODELS:
        decoder, found = codec_decoder(model), recorded()
        close(flow_lm(model).denormalized(found[f"{model}.codec.latents"]), found[f"{model}.codec.denormalized"])
        latents = found[f"{model}.codec.denormalized"][None]
        count = latents.shape[1]
        for cuts in ((0, count), tuple(range(count + 1)), (0, 1, 3, count)):
            state, parts = decoder.begin(1), []
            for start, end in pairwise(cuts):
                samples, state = decoder(latents[:, start:end], state)
                parts.append(samples)
            close(torch.cat(parts, dim=1)[0], found[f"{model}.codec.wave"])


def test_streams_of_any_age_share_a_call_of_the_decoder() -> None:
    decoder, latents = codec_decoder("main"), recorded()["main.codec.denormalized"]
    _, old = decoder(latents[None, :4], decoder.begin(1))
    fresh = decoder.begin(1)
    pairs = zip(old.kept, fresh.kept, strict=True)
    both = type(old)(torch.cat((old.positions, fresh.positions)), tuple(torch.cat(each) for each in pairs))
    together, _ = decoder(torch.stack((latents[4:6], latents[:2])), both)
    close(together[0], decoder(latents[None, 4:6], old)[0][0])
    close(together[1], decoder(latents[None, :2], fresh)[0][0])


def test_a_whole_loop_gives_the_originals_latents_and_ends() -> None:
    for model in MODELS:
        found, case, lm, head = recorded(), cases()[model], flow_lm(model), flow_head(model)
        cache, length = KvRows.empty(config(model), 1, 128, CPU, torch.float32), torch.zeros(1, dtype=torch.long)
        rows = [
            lm.embedding.of_voice(found[f"{model}.voice.latents"][None]),
            lm.embedding.of_text(found[f"{model}.loop.ids"][None]),
        ]
        for given in rows:
            lm(given, length, cache)
            length = length + given.shape[1]
        latent, noise = lm.embedding.bos_emb[None], found[f"{model}.loop.z"] * case["temperature"] ** 0.5
        for step, wanted in enumerate(found[f"{model}.loop.latent"]):
            condition, logit = lm.condition(lm(lm.embedding.of_latents(latent), length, cache)[:, 0])
            close(logit[0], found[f"{model}.loop.eos_logit"][step], LOOP_TOLERANCE)
            latent = head(condition, noise[step][None], head.times(1))
            close(latent[0], wanted, LOOP_TOLERANCE)
            length = length + 1


def test_sequences_of_different_lengths_do_not_see_each_other() -> None:
    lm, ids = flow_lm("small"), recorded()["small.loop.ids"][None]
    shared, alone = (KvRows.empty(config("small"), count, 48, CPU, torch.float32) for count in (2, 1))
    start = torch.tensor([0])
    lm(lm.embedding.of_text(ids[:, :5]), start, shared.first(1, 48))
    lm(lm.embedding.of_text(ids[:, :5]), start, alone)
    rows = lm.embedding.of_text(torch.cat((ids[:, 5:6], ids[:, 9:10])))
    both = lm(rows, torch.tensor([5, 0]), shared)
    close(both[:1], lm(rows[:1], torch.tensor([5]), alone))


def test_weights_or_sizes_that_do_not_fit_are_refused_by_name() -> None:
    state = dict(weights("main"))
    state["flow_lm.out_eos.weight"] = torch.zeros(1, 3)
    with pytest.raises(WeightsError, match=r"out_eos\.weight"):
        load_flow_lm(config("main"), state)
    with pytest.raises(WeightsError, match="upsample"):
        load_codec_decoder(config("main").codec, {k: v for k, v in weights("main").items() if "upsample" not in k})
    with pytest.raises(WeightsError, match=r"flow_lm\.flow is missing"):
        PocketConfig.parse({"flow_lm": {}, "mimi": {}})
