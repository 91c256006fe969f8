"""What CosyVoice 1 is given: ids of Whisper's vocabulary, features of recordings, and the prompt of each mode."""

import base64
import itertools
import json

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from helpers.tiny_cosyvoice import GOLDEN, prompt, tiny_model
from polyvox.engines.cosyvoice.bundle import open_model
from polyvox.engines.cosyvoice.frontend.tags import Tags
from polyvox.engines.cosyvoice.frontend.whisper_tokenizer import WhisperTokenizer
from polyvox.engines.cosyvoice.lm_prompt import PromptMode, build_prompt_v1, choose_mode, strip_end_mark
from polyvox.engines.cosyvoice.prompt_features import PromptFeatureExtractor
from polyvox.errors import BundleError
from polyvox.types import PreparedVoice

RECORDED = json.loads((GOLDEN / "cosyvoice1" / "frontend.json").read_text())
WORDS = {
    "Hello": 15947, " there": 456, " the": 264, " year": 1064, " is": 307, " 2024": 45237, " and": 293, " 3": 805,
    " cats": 11111, " sat": 3227, " Fine": 12024, "And": 5289, " then": 550, " later": 1780, " on": 322, "你好": 26410,
    "早": 21176, "こんにちは": 38088, "안": 49200, "녕": 12831, "The": 2278, " a": 257, " rebel": 28293, "end": 521,
    "of": 2670, "prom": 28722, "pt": 662,
}  # fmt: skip
"""Words of the vocabulary with their ids, as far as the recorded texts hold them."""
FRAGMENTS = {b"\xe6\x99": 5094, b"\xe6\x97": 1001, b"\xec\x95": 1002, b"\xeb\x85": 1003}
FRAGMENTS |= {b"Th": 1004, b"en": 1005, b"pr": 1006, b"pro": 1007}
"""Fragments that longer ones are merged from; only the first has its own id."""
SPOKEN = [case for case in RECORDED["encode"] if case["text"].startswith(("Hello", "<|en|>", "<|zh|>", "Theo"))]


def ranks() -> dict[bytes, int]:
    printed = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    order = [*printed, *(byte for byte in range(0x100) if byte not in printed)]
    single = {bytes([byte]): number for number, byte in enumerate(order)}
    return {**single, **FRAGMENTS, **{word.encode(): number for word, number in WORDS.items()}}


def write_ranks(path, content):
    """As the package has them; the empty string at the end, which no text holds, is written as a padding character."""
    lines = [f"{base64.b64encode(token).decode()} {number}\n" for token, number in content.items()]
    path.write_text("".join(lines) + "= 50256\n")


@pytest.fixture
def tokenizer(tmp_path):
    write_ranks(tmp_path / "multilingual.tiktoken", ranks())
    return WhisperTokenizer(tmp_path)


@pytest.mark.parametrize("case", SPOKEN, ids=lambda case: case["text"][:12])
def test_texts_have_the_ids_of_the_original(tokenizer, case):
    assert len(SPOKEN) == 5
    assert tokenizer.encode(case["text"]) == case["ids"]
    assert tokenizer.largest == RECORDED["tokenizer"]["n_vocab"] - 1


def test_byte_pairs_are_merged_in_the_order_of_their_ids(tmp_path):
    """Against the rule written down again: the adjacent pair of the lowest id is merged until there is none."""
    random = np.random.default_rng(1)
    letters = [bytes([byte]) for byte in b"abcd"]
    longer = list(letters)
    for _ in range(300):
        longer.append(longer[int(random.integers(len(longer)))] + letters[int(random.integers(4))])
    tokens = dict.fromkeys([bytes([byte]) for byte in range(256)] + [token for token in longer if len(token) < 8])
    known = {token: number for number, token in enumerate(tokens)}
    write_ranks(tmp_path / "multilingual.tiktoken", known)
    tokenizer = WhisperTokenizer(tmp_path)

    def merged(word):
        parts = [word] if word in known else [bytes([byte]) for byte in word]
        while pairs := [(known[a + b], at) for at, (a, b) in enumerate(itertools.pairwise(parts)) if a + b in known]:
            at = min(pairs)[1]
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return [known[part] for part in parts]

    words = ["".join(chr(each) for each in random.integers(97, 101, int(random.integers(1, 16)))) for _ in range(500)]
    assert [tokenizer.encode(word) for word in words] == [merged(word.encode()) for word in words]
    assert sum(len(merged(word.encode())) for word in words) < sum(map(len, words)) / 2


def test_the_form_of_the_hubs_is_read_as_well(tokenizer, tmp_path):
    (tmp_path / "multilingual.tiktoken").unlink()
    model = json.loads(tokenizer._words.to_str())["model"]
    vocabulary = {**model["vocab"], "": 50256, "<|endoftext|>": 50257}
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary))
    (tmp_path / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{' '.join(pair)}\n" for pair in model["merges"]))
    again = WhisperTokenizer(tmp_path)
    assert again.largest == 51865
    for case in (case for case in SPOKEN if not case["text"].startswith("Hello")):
        # Whole words such as " there" cannot be merged here, where the fragments between are missing.
        assert again.encode("早晨" + case["text"][:6]) == tokenizer.encode("早晨" + case["text"][:6])


def test_documents_write_jp_for_japanese_and_only_languages_are_control_tokens(tokenizer):
    assert tokenizer.encode("<|jp|>") == tokenizer.encode("<|ja|>") == [50266]
    assert 50257 not in tokenizer.encode("<|endoftext|>")
    tagged = "<|en|>One [laughter] <strong>two</strong>"
    assert Tags(1).clean(tagged) == tagged
    for text in ("<|endoftext|>", "<|endofprompt|>", "<|0.00|>"):
        assert Tags(1).clean(f"{text}One") == "One"
    assert Tags(2).clean("<|en|>One") == "One"


@pytest.mark.parametrize("content", ["", "no base64 1\n", "IQ==\n", "IQ== one\n"])
def test_a_vocabulary_that_is_none_is_refused(tmp_path, content):
    (tmp_path / "multilingual.tiktoken").write_text(content)
    with pytest.raises(BundleError, match=r"multilingual\.tiktoken cannot be read"):
        WhisperTokenizer(tmp_path)


def test_without_a_vocabulary_the_error_says_where_one_is(tmp_path):
    with pytest.raises(BundleError, match=r"Whisper's.*whisper/assets/multilingual\.tiktoken.*whisper-large-v3"):
        WhisperTokenizer(tmp_path)


def test_that_of_an_installed_whisper_is_found(tmp_path, monkeypatch):
    assets = tmp_path / "packages" / "whisper" / "assets"
    assets.mkdir(parents=True)
    (assets.parent / "__init__.py").touch()
    write_ranks(assets / "multilingual.tiktoken", ranks())
    monkeypatch.syspath_prepend(tmp_path / "packages")
    (tmp_path / "model").mkdir()
    assert WhisperTokenizer(tmp_path / "model").encode("Hello") == [15947]


def test_a_recording_is_analysed_as_the_model_was_trained(tmp_path):
    recorded = load_file(GOLDEN / "cosyvoice1" / "frontend.safetensors")
    arrays = PromptFeatureExtractor(open_model(tiny_model(tmp_path, 1)), 1).extract(prompt())
    assert arrays["tokens"].tolist() == recorded["speech_token"][0].tolist()
    assert np.abs(arrays["mel"].T - recorded["prompt_mel_16k_to_22k"][0]).max() < 1e-4


def voice(**arrays):
    return PreparedVoice("cosyvoice1", "d", {"embedding": np.ones(192, np.float32), **arrays})


def cloned():
    tokens, text = np.arange(86, dtype=np.int32), np.array([40, 1454, 370, 13], np.int32)
    return voice(tokens=tokens, mel=np.zeros((80, 149), np.float32), text=text)


@pytest.mark.parametrize(
    ("mode", "speaker", "instructions"),
    [
        ("sft", voice(), None),
        ("zero_shot", cloned(), None),
        ("cross_lingual", voice(**{**cloned().arrays, "text": np.zeros(0, np.int32)}), None),
        ("instruct", voice(), "Theo is a rebel."),
    ],
    ids=["sft", "zero_shot", "cross_lingual", "instruct"],
)
def test_each_mode_passes_on_what_the_original_passes_on(tokenizer, mode, speaker, instructions):
    recorded = RECORDED["modes"][f"{mode}.offline"]
    given, ids = recorded["tts_inputs"], recorded["ids"]
    chosen = choose_mode(speaker, instructions, "en")
    assert str(chosen).removesuffix("2") == mode
    prompt = build_prompt_v1(speaker, chosen, instructions, tokenizer, "<|endofprompt|>")
    if instructions:
        # The recorded instruction is another one; its full stop and its mark are the same.
        assert list(prompt.prompt_text[-9:]) == ids["prompt_text"][-9:]
    else:
        assert list(prompt.prompt_text) == ids.get("prompt_text", [])
    assert len(prompt.prompt_speech) == len(ids.get("llm_prompt_speech_token", ()))
    assert (prompt.speaker is not None) == ("llm_embedding" in given)
    assert len(prompt.flow_tokens) == len(ids.get("flow_prompt_speech_token", ()))
    assert prompt.voice is speaker


def test_an_instruction_ends_with_one_mark_of_the_settings_choice(tokenizer):
    assert [strip_end_mark(f" Sad. {mark} ") for mark in ("", "<|endofprompt|>", "<endofprompt>")] == ["Sad."] * 3
    for mark in ("<|endofprompt|>", "<endofprompt>"):
        made = build_prompt_v1(voice(), PromptMode.INSTRUCT, "Theo is a rebel.", tokenizer, mark)
        expected = next(case["ids"] for case in SPOKEN if case["text"].endswith(f".{mark}"))
        assert made.prompt_text == tuple(expected)


def test_voices_of_the_file_are_read_without_running_anything(tmp_path):
    folder = tiny_model(tmp_path, 1)
    assert set(open_model(folder).voices("cosyvoice1")) == {"中文女", "english_m"}
    entry = {name: torch.ones(*shape) for name, (shape, _) in RECORDED["spk2info_zero_shot_entry"].items()}
    (folder / "spk2info.pt").unlink()
    torch.save({"mine": entry}, folder / "spk2info.pt")
    arrays = open_model(folder).voices("cosyvoice1")["mine"].arrays
    assert {name: array.shape for name, array in arrays.items()} == {
        "embedding": (192,), "text": (4,), "tokens": (86,), "mel": (80, 162),
    }  # fmt: skip
    torch.save({"mine": print}, folder / "spk2info.pt")
    with pytest.raises(BundleError, match="cannot be read as plain tensors"):
        open_model(folder).voices("cosyvoice1")
