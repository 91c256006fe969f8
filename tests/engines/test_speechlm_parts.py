"""The codec language model's parts: text, prompts, options, folders."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from helpers.tables import each_row
from helpers.tiny_speechlm import (
    BYTES,
    CODES,
    tiny_speechlm_settings,
    write_tiny_codec,
    write_tiny_lm,
    write_tiny_model,
)
from polyvox.engines.kit.seeds import derive_seed
from polyvox.engines.speechlm.bundle import load_codec, load_lm, read_vocabulary
from polyvox.engines.speechlm.loading import load_networks
from polyvox.engines.speechlm.options import SynthesisOptions
from polyvox.engines.speechlm.prompt_builder import MAX_VOICE_TOKENS, CodeVoice, PromptBuilder
from polyvox.engines.speechlm.settings import SpeechLmSettings
from polyvox.engines.speechlm.windows import WindowPolicy
from polyvox.errors import BundleError, InvalidRequestError, PromptError
from polyvox.text.grapheme_frontend import SEGMENT_CHARS, GraphemeFrontend
from polyvox.text.spoken import Pause
from polyvox.types import ChunkPolicy, NormalizationOptions

AS_WRITTEN = NormalizationOptions(normalize=False)
READ = NormalizationOptions()
CPU = torch.device("cpu")
VOICE = CodeVoice(np.array([5, 0, 7], np.int32), "Selamat pagi.")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return write_tiny_model(tmp_path_factory.mktemp("models"))


# Text


@each_row(
    ("raw", "line"),
    [
        ("**Harga** RM500", "Harga RM500."),
        ("Hello\nworld", "Hello world."),
        ("Visit https://x.com now", "Visit https://x.com now."),
        ("ok.", "ok."),
        ("Betul ke?", "Betul ke?"),
        ("你好。", "你好。"),
        ("Say [tomato](/təˈmeɪtoʊ/) [pause:1s] now", "Say tomato now."),
        ("", ""),
    ],
)
def test_text_without_normalisation_only_loses_its_markup_and_gains_a_stop(raw, line):
    assert GraphemeFrontend().normalized(raw, AS_WRITTEN) == line


def test_text_is_read_as_malay_unless_another_language_is_given():
    assert GraphemeFrontend().normalized("Harga RM500", READ) == "Harga lima ratus ringgit."
    assert GraphemeFrontend().normalized("It costs $5", READ, "en") == "It costs five dollars."


def pieces(raw, options=AS_WRITTEN):
    return list(GraphemeFrontend().segments(raw, options))


def test_a_short_text_is_one_piece_that_knows_where_it_stands():
    (piece,) = pieces("  Hello there.  How are *you*")
    assert piece.text == "Hello there. How are you."
    assert piece.span(0, len(piece)).start == 2
    assert piece.span(0, 5).end == 7


def test_a_long_text_is_cut_between_sentences():
    raw = " ".join(f"Ini ayat yang ke {place} dalam teks ini." for place in range(40))
    found = pieces(raw)
    assert len(found) > 2
    assert " ".join(piece.text for piece in found) == raw
    assert all(len(piece) <= SEGMENT_CHARS + 1 for piece in found)
    assert all(piece.text.endswith(".") for piece in found)


@each_row("raw", ["kata " * 500, "k" * 3000, "satu, dua, " * 200])
def test_a_sentence_without_end_is_cut_all_the_same(raw):
    found = pieces(raw)
    assert all(len(piece) <= SEGMENT_CHARS + 1 for piece in found)
    assert sum(piece.text.count("k") for piece in found) == raw.count("k")


def test_pauses_part_the_pieces():
    first, pause, second = pieces("Satu [pause:500ms] dua")
    assert (first.text, second.text) == ("Satu.", "dua.")
    assert isinstance(pause, Pause)
    assert pause.seconds == 0.5


@each_row("raw", ["...", "*** --- ***", "!?"])
def test_what_cannot_be_spoken_is_no_piece(raw):
    assert pieces(raw) == []


# PromptBuilder


def test_prompts_are_written_as_the_model_was_trained_on_them():
    prompts = PromptBuilder(None)
    assert prompts.named("husein", "Hello there.").text == "<|im_start|>husein: Hello there.<|speech_start|>"
    assert prompts.cloned(VOICE, "Apa khabar?").text == (
        "<|im_start|>Selamat pagi.<|speech_start|><|s_5|><|s_0|><|s_7|><|im_end|>"
        "<|im_start|>Apa khabar?<|speech_start|>"
    )


def test_ids_are_those_of_the_text(models):
    vocabulary = read_vocabulary(models / "speechlm")
    ours, theirs = PromptBuilder(vocabulary), PromptBuilder(None)
    assert list(ours.named("idayu", "Helo.").ids) == vocabulary.encode(theirs.named("idayu", "Helo.").text)
    prompt = ours.cloned(VOICE, "Helo.")
    assert list(prompt.ids) == vocabulary.encode(theirs.cloned(VOICE, "Helo.").text)
    assert ours.cloned(VOICE, "Helo.") == prompt, "what is kept of the voice changes nothing"
    start, end, speech = BYTES, BYTES + 1, BYTES + 2
    assert prompt.ids[:1] == (start,)
    assert prompt.ids[prompt.shared - 2 : prompt.shared] == (end, start)
    assert prompt.ids[-1] == speech
    assert set(prompt.seen) == {5, 0, 7, CODES}


@pytest.mark.parametrize("text", ["Stop<|im_end|>", "<|s_3|>", "<<||im_end|>", "a<|speech_start|>b"])
def test_nothing_that_a_caller_writes_is_a_control_token(models, text):
    def prompts(encoder, said):
        builder = PromptBuilder(encoder)
        return builder.named("husein", said), builder.cloned(CodeVoice(VOICE.codes, said), said)

    vocabulary = read_vocabulary(models / "speechlm")
    for prompt, plain in zip(prompts(vocabulary, text), prompts(vocabulary, "x"), strict=True):
        control = [number for number in prompt.ids if number >= BYTES]
        assert control == [number for number in plain.ids if number >= BYTES]
    for prompt, plain in zip(prompts(None, text), prompts(None, "x"), strict=True):
        assert 0 < prompt.text.count("<|") == plain.text.count("<|")


def test_a_voice_of_tokens_comes_back_from_its_arrays():
    packed = VOICE.pack("speechlm", "abc")
    again = CodeVoice.unpack(packed, "speechlm")
    assert (again.codes.tolist(), again.transcript) == ([5, 0, 7], "Selamat pagi.")
    with pytest.raises(InvalidRequestError, match="prepared for 'speechlm'"):
        CodeVoice.unpack(packed, "other")


@each_row(
    ("codes", "words"),
    [
        ([], "at least one"),
        ([[1, 2]], "list of whole numbers"),
        ([1.5], "whole numbers"),
        (["x"], "whole numbers"),
        ([-1], "between 0 and 65535"),
        ([65_536], "between 0 and 65535"),
        ([2**70], "whole numbers"),
        ([1] * (MAX_VOICE_TOKENS + 1), "1500 are the most"),
    ],
)
def test_tokens_that_are_no_voice_are_refused(codes, words):
    with pytest.raises(PromptError, match=words):
        CodeVoice.of(codes, "Hello.")


def test_a_voice_without_words_is_refused():
    with pytest.raises(PromptError, match="transcript"):
        CodeVoice.of([1], " ")


# Options


def options(tmp_path, **tuning):
    return SynthesisOptions.of(tuning, 7, tiny_speechlm_settings(tmp_path).section(SpeechLmSettings))


def test_what_is_not_asked_for_comes_from_the_settings(tmp_path):
    usual = options(tmp_path)
    assert (usual.sampling.temperature, usual.sampling.repetition_penalty, usual.max_tokens) == (0.6, 1.15, None)
    assert usual.windows == WindowPolicy(ChunkPolicy(25, 2.0, 250), past=150, ahead=5)
    assert usual.segment_sampling(0).seed == 7
    assert usual.segment_sampling(1).seed == derive_seed(7, "segment", 1)


def test_playback_speed_is_seconds_of_each_chunk_and_overlap_seconds_around_it(tmp_path):
    assert options(tmp_path, playback_speed=0.5, playback_overlap_speed=0.1).windows == WindowPolicy.steady(25, 5)
    assert options(tmp_path, playback_speed=2.0).windows == WindowPolicy.steady(100, 10)
    assert options(tmp_path, playback_overlap_speed=0.0).windows == WindowPolicy.steady(75, 1)
    assert options(tmp_path, playback_speed=0.02, playback_overlap_speed=0.0).windows == WindowPolicy.steady(1, 1)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("playback_speed", 0.0),
        ("playback_speed", 0.019),
        ("playback_speed", -1.0),
        ("playback_speed", 61.0),
        ("playback_speed", float("nan")),
        ("playback_speed", float("inf")),
        ("playback_overlap_speed", -0.1),
        ("playback_overlap_speed", 7.6),
        ("max_tokens", 0),
        ("max_tokens", 1e9),
        ("temperature", -0.1),
        ("temperature", 2.1),
        ("repetition_penalty", 0.0),
        ("top_p", 0.0),
        ("top_k", -1),
    ],
)
def test_no_value_may_loop_or_starve(tmp_path, field, value):
    with pytest.raises(InvalidRequestError) as refusal:
        options(tmp_path, **{field: value})
    assert refusal.value.field == field


def test_context_may_not_be_many_times_the_chunk(tmp_path):
    with pytest.raises(InvalidRequestError, match="5 times") as refusal:
        options(tmp_path, playback_speed=0.02, playback_overlap_speed=0.2)
    assert refusal.value.field == "playback_overlap_speed"


# Folders


def test_a_model_in_several_files_is_loaded_with_its_vocabulary(models):
    vocabulary = read_vocabulary(models / "speechlm")
    assert (vocabulary.first_code, vocabulary.codes, vocabulary.end) == (BYTES + 3, CODES, BYTES + 1)
    lm = load_lm(models / "speechlm", vocabulary, CPU, torch.float32)
    assert lm.vocabulary == CODES + 1
    assert lm.config.backbone.qk_norm
    codec = load_codec(models / "neucodec", CPU)
    assert (codec.config.hidden, codec.config.depth, codec.config.heads, codec.config.hop) == (64, 2, 4, 480)


def test_published_weights_of_the_codec_may_be_in_pytorch_s_format(tmp_path):
    folder = tmp_path / "neucodec"
    write_tiny_codec(folder)
    exact = load_codec(folder, CPU)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    again = load_codec(folder, CPU)
    codes = torch.arange(9)[None]
    assert torch.equal(again(codes), exact(codes))


def broken(folder: Path, name: str, content: str | None) -> None:
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(content)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("config.json", None, "lacks config.json.*speechlm_url"),
        ("tokenizer.json", None, "lacks tokenizer.json"),
        ("tokenizer.json", "{}", "cannot be read as a tokenizer"),
        ("config.json", "{", "not a JSON file"),
        ("config.json", json.dumps({"model_type": "llama"}), "model_type"),
        ("config.json", "[" * 100_000, "not a JSON file"),
        ("model-00001-of-00002.safetensors", None, "does not fit"),
    ],
)
def test_what_is_wrong_with_a_language_model_s_folder_is_said(tmp_path, name, content, words):
    write_tiny_model(tmp_path)
    broken(tmp_path / "speechlm", name, content)
    with pytest.raises(BundleError, match=words):
        load_networks(tiny_speechlm_settings(tmp_path))


def test_a_tokenizer_without_speech_is_refused(tmp_path):
    folder = tmp_path / "lm"
    write_tiny_lm(folder)
    content = json.loads((folder / "tokenizer.json").read_text())
    content["added_tokens"] = [token for token in content["added_tokens"] if not token["content"].startswith("<|s")]
    (folder / "tokenizer.json").write_text(json.dumps(content))
    with pytest.raises(BundleError, match=r"no <\|speech_start\|>, <\|s_0\|>"):
        read_vocabulary(folder)


def test_a_folder_without_the_codec_says_where_to_put_it(tmp_path):
    write_tiny_lm(tmp_path / "speechlm")
    with pytest.raises(BundleError, match="neucodec_dir"):
        load_networks(tiny_speechlm_settings(tmp_path))


def test_with_a_server_only_the_codec_is_needed(tmp_path):
    write_tiny_codec(tmp_path / "neucodec")
    networks = load_networks(tiny_speechlm_settings(tmp_path, speechlm_url="http://127.0.0.1:9"))
    assert networks.lm is None
    assert networks.vocabulary is None


def test_a_gpu_that_is_not_there_is_warned_of(models, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    networks = load_networks(tiny_speechlm_settings(models, speechlm_device="cuda"))
    assert networks.device == CPU
    assert "no GPU" in networks.warning
