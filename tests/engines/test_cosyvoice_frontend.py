"""CosyVoice's front end against the original's recorded features, ids and pieces of text."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.tables import each_row
from helpers.tiny_cosyvoice import FRONTEND, prompt, recording, tiny_model
from polyvox.audio.features import kaldi_fbank
from polyvox.engines.cosyvoice.bundle import open_model
from polyvox.engines.cosyvoice.features import MEL_24K, mel_spectrogram, sinc_resampled, whisper_log_mel
from polyvox.engines.cosyvoice.frontend.frontend import HARD_LIMIT, CosyVoiceFrontend
from polyvox.engines.cosyvoice.frontend.tags import Tags
from polyvox.engines.cosyvoice.frontend.tokenizer import TextTokenizer
from polyvox.engines.cosyvoice.prompt_features import PromptFeatureExtractor, check_recording
from polyvox.errors import BundleError, PromptError
from polyvox.types import NormalizationOptions, VoicePrompt

RECORDED = dict(np.load(FRONTEND / "cosyvoice_features.npz"))
TEXTS = json.loads((FRONTEND / "cosyvoice_text.json").read_text())
OPTIONS = NormalizationOptions()
TOKENIZER = TextTokenizer(FRONTEND / "CosyVoice-BlankEN", Tags(3))
TEXT_FRONTEND = CosyVoiceFrontend(Tags(3), lambda text: len(TOKENIZER.encode(text)))


def far(ours, theirs):
    assert ours.shape == theirs.shape
    return float(np.abs(ours - theirs).max())


def test_features_are_the_originals():
    low = sinc_resampled(recording(), 24_000, 16_000)
    assert far(low, RECORDED["wav16k"]) < 1e-6
    assert far(whisper_log_mel(low)[:, ::8], RECORDED["logmel"]) < 1e-4
    fbank = kaldi_fbank(low, 16_000)
    assert far((fbank - fbank.mean(axis=0))[::8], RECORDED["fbank"]) < 1e-4
    assert far(mel_spectrogram(recording(), MEL_24K, 8000).T, RECORDED["mel2"]) < 1e-4
    assert far(mel_spectrogram(recording(), MEL_24K, None).T, RECORDED["mel3"]) < 1e-4


@each_row("rate", [16_001, 22_050, 44_100, 48_000])
def test_a_tone_survives_any_change_of_rate(rate):
    tone = np.sin(2 * np.pi * 440 * np.arange(rate) / rate).astype(np.float32)
    expected = np.sin(2 * np.pi * 440 * np.arange(24_000) / 24_000)
    ours = sinc_resampled(tone, rate, 24_000)
    assert len(ours) == 24_000
    assert np.abs(ours - expected)[500:-500].max() < 0.02


@pytest.mark.parametrize("version", [2, 3])
def test_a_recording_becomes_the_originals_voice(tmp_path, version):
    heard = PromptFeatureExtractor(open_model(tiny_model(tmp_path, version)), 1).extract(prompt())
    assert heard["tokens"].tolist() == RECORDED[f"tokens{version}"].tolist()
    assert far(heard["embedding"], RECORDED[f"speaker{version}"]) < 1e-4
    assert heard["mel"].shape == (80, 86)


@each_row(
    ("given", "complaint"),
    [
        (prompt(seconds=0.4), "lasts 0.4 s; CosyVoice takes 0.5 to 30 s"),
        (prompt(seconds=31), "lasts 31.0 s"),
        (VoicePrompt(np.zeros(16_000, np.float32), 8_000, "a", "d"), "8000 samples a second"),
        (VoicePrompt(np.full(16_000, np.nan, np.float32), 16_000, "a", "d"), "finite"),
    ],
)
def test_a_recording_that_makes_no_voice_is_refused(given, complaint):
    with pytest.raises(PromptError, match=complaint) as refused:
        check_recording(given, "voice")
    assert refused.value.field == "voice"


@each_row("case", TEXTS["encode"][:-1])
def test_ids_are_the_originals(case):
    assert TOKENIZER.encode(case["text"]) == case["ids"]


def test_special_tokens_follow_the_backbones():
    assert len(Tags(2).tokens) == 17
    assert len(Tags(3).tokens) == 278
    assert TOKENIZER.special("<|endofprompt|>") == 500
    assert TOKENIZER.encode("[laughter]") == [505]
    assert TOKENIZER.largest == 500 + 277


def test_what_looks_like_a_control_token_is_only_text():
    assert 500 not in TOKENIZER.encode("a<|endofprompt|>b")


def test_a_broken_tokenizer_is_refused(tmp_path):
    for name in ("vocab.json", "merges.txt", "tokenizer_config.json"):
        (tmp_path / name).write_text("{")
    with pytest.raises(BundleError, match="cannot be read"):
        TextTokenizer(tmp_path, Tags(3))


@each_row(
    ("text", "spoken"),
    [
        ("Hello <|endofprompt|> there", "Hello there"),
        ("<|en|>Hello", "Hello"),
        ("a<|im_end|>b", "a b"),
        ("He [giggles] and goes", "He giggles and goes"),
        ("He wrote teh [sic] on it", "He wrote teh sic on it"),
        ("<b>bold</b> and <i class='x'>leaning</i>", "bold and leaning"),
    ],
)
def test_control_tokens_and_unknown_tags_never_reach_the_model(text, spoken):
    assert Tags(3).clean(text) == spoken
    assert TEXT_FRONTEND.normalized(text, OPTIONS).text == spoken


def test_brackets_that_are_no_tags_and_tags_of_the_model_pass():
    text = "See [1], [a b], x < y > z and [AH0] [laughter] <strong>so</strong>."
    assert Tags(3).clean(text) == text
    assert Tags(2).clean("[AH0]") == "AH0"


def test_what_is_left_of_a_text_keeps_its_place_in_it():
    text = "One <b>two</b> [sic] three"
    found = TEXT_FRONTEND.normalized(text, OPTIONS)
    for word in ("One", "two", "sic", "three"):
        at = found.text.index(word)
        span = found.span(at, at + len(word))
        assert text[span.start : span.end] == word


def pieces(text):
    return [piece.text for piece in TEXT_FRONTEND.segments(text, OPTIONS)]


@each_row("index", [1, 3, 7, 9, 10])
def test_texts_are_cut_where_the_original_cuts_them(index):
    """Those whose figures both read alike; white space at the ends of a piece aside."""
    case = TEXTS["text"][index]
    assert pieces(case["text"]) == [piece.strip() for piece in case["split"]]


def test_chinese_marks_and_figures():
    assert pieces(TEXTS["text"][4]["text"]) == ["你好，世界。今天天气真好！括号方二的平方等于四，是的。"]
    assert pieces(TEXTS["text"][5]["text"]) == [TEXTS["text"][5]["split"][0]]


def test_phones_are_not_read_as_figures():
    assert pieces("Say [AH0][B] 2 times") == ["Say [AH0][B] two times."]


def test_a_piece_remembers_where_it_came_from():
    text = "One 2 three. " * 30
    for piece in TEXT_FRONTEND.segments(text, OPTIONS):
        span = piece.span(0, len(piece))
        assert text[span.start : span.end].startswith("One")


def test_text_without_marks_is_cut_all_the_same():
    for piece in TEXT_FRONTEND.segments("word " * 400, OPTIONS):
        assert len(TOKENIZER.encode(piece.text)) <= HARD_LIMIT + 1


@given(st.text(st.sampled_from(list("ab 1.,;!?。，、“”（）- \n你好[]<|>²—é")), max_size=120))
@examples(100)
def test_any_text_gives_pieces_that_can_be_encoded(text):
    for piece in TEXT_FRONTEND.segments(text, OPTIONS):
        assert TOKENIZER.encode(piece.text)


def test_a_long_text_is_read_only_as_far_as_it_is_asked_for(monkeypatch):
    read = []
    monkeypatch.setattr(TEXT_FRONTEND, "_length", lambda text: read.append(text) or len(text))
    assert next(TEXT_FRONTEND.segments("One sentence of many. " * 1000, OPTIONS))
    assert max(len(text) for text in read) < 3000


def test_long_texts_are_spoken_to_the_last_word():
    words = [f"word{chr(97 + place % 26)}" for place in range(2000)]
    text = " ".join(word + ("." if place % 9 == 0 else "") for place, word in enumerate(words))
    spoken = " ".join(piece.text for piece in TEXT_FRONTEND.segments(text, OPTIONS))
    assert spoken.replace(".", "").split() == words
