"""Whisper: its tokens, the words of its transcripts, and what it hears."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers.fakes import running, tone_service
from helpers.kokoro_recordings import RATE as KOKORO_RATE
from helpers.kokoro_recordings import SENTENCES, spoken
from helpers.listening import SPEECH
from polyvox.audio.analysis import mono_16k
from polyvox.audio.decode import decode
from polyvox.errors import BundleError
from polyvox.evaluate.wer import word_error_rate
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.listening.listening_request import ListeningRequest
from polyvox.voices.recognition.languages import LANGUAGES
from polyvox.voices.recognition.recogniser import RecognitionTask
from polyvox.voices.recognition.whisper import Whisper
from polyvox.voices.recognition.whisper_tokens import WhisperTokenizer
from polyvox.voices.recognition.whisper_words import timed_groups, token_groups

SPECIAL = ("endoftext", "startoftranscript", "en", "zh", "translate", "transcribe", "startofprev", "notimestamps")


@pytest.fixture
def tokenizer(tmp_path: Path) -> WhisperTokenizer:
    """One of few pieces: single bytes, and two merges."""
    chars = [*"helowrd.Ġåģ¥½", "he", "Ġw"]
    content = {
        "model": {"vocab": {piece: n for n, piece in enumerate(chars)}, "merges": ["h e", ["Ġ", "w"]]},
        "added_tokens": [{"content": f"<|{name}|>", "id": 100 + n} for n, name in enumerate(SPECIAL)],
    }
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(content))
    return WhisperTokenizer.read(path)


def test_text_is_encoded_by_its_merges_and_decoded_again(tokenizer):
    ids = tokenizer.encode("hello world.")
    assert [tokenizer.piece(number) for number in ids] == [b"he", b"l", b"l", b"o", b" w", b"o", b"r", b"l", b"d", b"."]
    assert tokenizer.text([*ids, tokenizer.special.end, 99_999]) == "hello world."
    assert tokenizer.special.languages == {"en": 102, "zh": 103}
    assert tokenizer.special.no_timestamps == 107


def test_a_tokenizer_of_another_kind_is_refused(tmp_path):
    path = tmp_path / "tokenizer.json"
    for content in ("[]", "{", '{"model": {"vocab": {}, "merges": []}, "added_tokens": []}'):
        path.write_text(content)
        with pytest.raises(BundleError, match="no tokenizer of Whisper's"):
            WhisperTokenizer.read(path)


def test_tokens_are_grouped_to_words_or_characters_with_the_marks_beside_them():
    grouped = lambda pieces, unspaced: [  # noqa: E731
        (group.text, group.spaced, group.tokens) for group in token_groups(pieces, unspaced=unspaced)
    ]
    assert grouped([b" He", b" dis", b"posed", b",", b" yes", b"."], False) == [
        ("He", True, 1),
        ("disposed,", True, 3),
        ("yes.", True, 2),
    ]
    assert grouped([" ¿".encode(), b"Qu", "é".encode()[:1], "é".encode()[1:], b"?"], False) == [("¿Qué?", True, 5)]
    assert grouped(["今".encode(), "天".encode()[:2], "天".encode()[2:], "。".encode(), b" OK"], True) == [
        ("今", False, 1),
        ("天。", False, 3),
        ("OK", True, 1),
    ]
    assert grouped([], False) == []
    assert grouped([b" a", "é".encode()[:1]], False) == [("a\ufffd", True, 2)]


def test_words_begin_where_their_tokens_are_listened_to():
    attention = np.full((2, 4, 100), 0.001, np.float32)
    for row, (start, end) in enumerate([(0, 20), (20, 50), (50, 80), (80, 100)]):
        attention[:, row, start:end] = 0.05
    window = np.random.default_rng(0).normal(0, 0.1, 100 * 320).astype(np.float32)
    words = timed_groups(token_groups([b" one", b" two", b"!"], unspaced=False), attention, window)
    assert [(word.text, round(word.start, 1), round(word.end, 1)) for word in words] == [
        ("one", 0.0, 0.4),
        ("two!", 0.4, 1.6),
    ]


@pytest.fixture(scope="module")
def whisper(installed) -> Whisper:
    return Whisper(installed("whisper-base"))


def heard(whisper: Whisper, key: str, **task: object):
    return whisper.recognise(mono_16k(spoken(key), KOKORO_RATE), RecognitionTask(**task), lambda: None)


@pytest.mark.slow
def test_it_hears_words_their_times_and_the_language_the_same_every_time(whisper):
    found = heard(whisper, "rice", words=True)
    assert (found.language, found.temperature) == ("en", 0.0)
    assert word_error_rate(SENTENCES["rice"], found.text).errors <= 1
    assert " ".join(word.text for word in found.words) == found.text
    starts = [word.start for word in found.words]
    assert starts == sorted(starts)
    assert heard(whisper, "rice", words=True, language="en") == replace(found, language_probability=1.0)
    drawn = heard(whisper, "rice", temperature=0.7)
    assert drawn == heard(whisper, "rice", temperature=0.7)
    assert drawn.temperature == 0.7


@pytest.mark.slow
def test_a_prompt_decides_how_a_name_is_spelled(whisper):
    pcm, rate = decode(SPEECH, max_seconds=10, max_samples=1_000_000)
    task = RecognitionTask(prompt="he is ill disposed. he is well disposed, a young man.")
    heard_so = whisper.recognise(mono_16k(pcm, rate), task, lambda: None).text
    assert "ill disposed" in heard_so, "which is ill-disposed without a prompt, as another test hears"


@pytest.mark.slow
def test_its_tokens_are_those_of_the_published_tokenizer(installed):
    tokenizers = pytest.importorskip("tokenizers")
    path = installed("whisper-base").file("tokenizer.json")
    published, own = tokenizers.Tokenizer.from_file(str(path)), WhisperTokenizer.read(path)
    for text in (
        " He's not ill-disposed, 42 times!",
        " Größe und Maß",
        " 今天天气很好。",
        " दरवाज़ा",
        "  two  spaces\n",
    ):
        ids = published.encode(text, add_special_tokens=False).ids
        assert own.encode(text) == ids, text
        assert own.text(ids) == " ".join(text.split())
    assert own.special.languages.keys() == LANGUAGES.keys()
    assert own.special.start == published.token_to_id("<|startoftranscript|>")


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_transcript_does_not_depend_on_what_else_is_transcribed(installed):
    service = tone_service(models_dir=installed("whisper-base").folder.parent, listen_workers=2)
    request = ListeningRequest(SPEECH, RecognitionTask(words=True), "whisper-base")
    async with running(service):
        alone = await service.listening.listen(request, LOCAL_CALL)
        other = ListeningRequest(SPEECH, RecognitionTask(temperature=0.9), "whisper-base")
        first, _ = await asyncio.gather(*(service.listening.listen(each, LOCAL_CALL) for each in (request, other)))
    assert alone == first
    assert alone.text == "He was not an ill-disposed young man."


@pytest.mark.slow
def test_chinese_and_hindi_go_on_in_the_script_that_is_asked_for(whisper):
    tokenizer = whisper._tokenizer
    rows = [
        ("zh", {}, "简体"),
        ("zh", {"traditional": True}, "繁體"),
        ("hi", {}, "नमस्ते"),
        ("hi", {"prompt": "Wren"}, "Wren"),
    ]
    for language, wishes, written in rows:
        start = whisper._start(language, RecognitionTask(language=language, **wishes))
        assert written in tokenizer.text(start)
    for language, wishes in (("en", {}), ("ja", {}), ("zh", {"translate": True})):
        assert len(whisper._start(language, RecognitionTask(**wishes))) == 4


@pytest.mark.slow
@pytest.mark.anyio
async def test_english_that_is_detected_is_heard_by_moonshine(installed):
    folder = installed("whisper-base").folder.parent
    assert installed("moonshine-base").folder.parent == folder
    service = tone_service(models_dir=folder)
    async with running(service):
        transcript = await service.listening.listen(ListeningRequest(SPEECH, RecognitionTask(words=True)), LOCAL_CALL)
    assert (transcript.model, transcript.language) == ("moonshine-base", "en")
    assert transcript.text == "He was not an ill-disposed young man."
    assert 0.9 < transcript.passages[0].recognition.language_probability < 1
    assert len(transcript.words) == 7
