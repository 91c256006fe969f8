"""The language of a text, as far as its script shows it."""

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.tables import each_row
from polyvox.text.detect import detect_language


@each_row(
    ("text", "language"),
    [
        ("Hello, world.", "en"),
        ("", "en"),
        ("12345 !?", "en"),
        ("😀", "en"),
        ("Ça va très bien", "en"),
        ("你好，世界。", "zh"),
        ("我用Python写代码", "zh"),
        ("我们在 GitHub 上发布了 version 2", "zh"),
        ("The word 你好 means hello.", "en"),
        ("こんにちは", "ja"),
        ("今日は東京へ行きます", "ja"),
        ("カタカナ", "ja"),
        ("안녕하세요 여러분", "ko"),
        ("नमस्ते दुनिया", "hi"),
        ("Привет, мир", "ru"),
        ("مرحبا بالعالم", "ar"),
        ("שלום עולם", "he"),
        ("Γειά σου Κόσμε", "el"),
        ("สวัสดีชาวโลก", "th"),
    ],
)
def test_script_tells_the_language(text: str, language: str) -> None:
    assert detect_language(text) == language


@given(st.text())
@settings(deadline=None)
def test_every_text_has_an_answer(text: str) -> None:
    assert detect_language(text) in {"en", "zh", "ja", "ko", "hi", "ru", "ar", "he", "el", "th"}


def test_only_the_beginning_of_a_long_text_is_looked_at() -> None:
    start = time.thread_time()
    assert detect_language("你好" * 1_000_000) == "zh"
    assert time.thread_time() - start < 0.5
