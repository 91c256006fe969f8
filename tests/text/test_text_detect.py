"""The language of a text: by its script, or among languages in Latin letters by its words."""

import subprocess
import sys
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from polyvox.text.detect import detect_language

SENTENCES = {
    "zh": ("你好，世界。", "我用Python写代码", "我们在 GitHub 上发布了 version 2", "我今年20岁。"),
    "ja": ("こんにちは", "今日は東京へ行きます", "カタカナ", "20歳です。"),
    "ko": ("안녕하세요 여러분", "저는 스무 살입니다."),
    "hi": ("नमस्ते दुनिया", "मैं 20 साल का हूँ।"),
    "ru": ("Привет, мир", "Мне 20 лет."),
    "ar": ("مرحبا بالعالم",),
    "he": ("שלום עולם",),
    "el": ("Γειά σου Κόσμε",),
    "th": ("สวัสดีชาวโลก",),
    "en": (
        "Hello, world.",
        "The word 你好 means hello.",
        "I am 20 years old.",
        "Hello",
        "OK",
        "Stop!",
        "Good morning",
        "Thank you very much",
        "Dr. Smith",
        "Chapter 1",
        "Call me at 555-1234",
        "I'm going to Paris",
        "Mr. Martinez lives in San Francisco.",
        "A naïve approach to the résumé",
        "Maria Silva",
        "THE QUICK BROWN FOX",
        "[laughter] That was <strong>great</strong> fun.",
        "Version 2.0 released",
    ),
    "fr": (
        "Il a 20 ans",
        "Bonjour",
        "Ça va très bien",
        "Je m'appelle Claire.",
        "Où est la gare ?",
        "Le prix est de 5 €.",
        "Oui, bien sûr.",
        "C'est la vie.",
        "[laughter] Il a 20 ans <break time='1s'/>",
    ),
    "es": (
        "Hola mundo",
        "Tengo 20 años.",
        "¿Cómo estás?",
        "Muchas gracias por todo.",
        "Me llamo Juan.",
        "Son las 5 de la tarde.",
        "Vamos a la playa",
    ),
    "it": (
        "Ciao a tutti",
        "Ho 20 anni.",
        "Grazie mille",
        "Mi chiamo Luca.",
        "Buongiorno",
        "Il treno parte alle 8.",
        "La vita è bella.",
    ),
    "pt": (
        "Olá mundo",
        "Tenho 20 anos.",
        "Como você está?",
        "Muito obrigada pela ajuda.",
        "O gato está em casa.",
        "Não sei.",
        "Vamos para a praia.",
    ),
    "de": (
        "Guten Morgen",
        "Ich bin 20 Jahre alt.",
        "Wie geht es dir?",
        "Das kostet 5 Euro.",
        "Ja, natürlich.",
        "Der Zug fährt um 8 Uhr ab.",
    ),
    "ms": (
        "Selamat pagi",
        "Saya berumur 20 tahun.",
        "Terima kasih",
        "Dia tinggal di Kuala Lumpur.",
        "Berapa harganya?",
    ),
}


def test_short_sentences_are_told_apart() -> None:
    found = {text: detect_language(text) for texts in SENTENCES.values() for text in texts}
    wanted = {text: language for language, texts in SENTENCES.items() for text in texts}
    assert len(wanted) > 60
    assert found == wanted


def test_what_says_nothing_is_english() -> None:
    for text in ("", "12345 !?", "😀", "<break/>", "[", "\ud800", "$5", "Polyvox", "Merci", "Hola"):
        assert detect_language(text) == "en", text


def test_a_language_that_the_model_does_not_speak_is_not_found() -> None:
    assert detect_language("Il a 20 ans", {"en-us", "zh"}) == "en"
    assert detect_language("Il a 20 ans", {"en", "de", "fr"}) == "fr"
    assert detect_language("Tenho 20 anos.", {"en-us", "pt-br"}) == "pt"
    assert detect_language("Good morning", {"ms"}) == "ms"


def test_an_answer_does_not_depend_on_the_questions_before() -> None:
    texts = [text for texts in SENTENCES.values() for text in texts]
    alone = [detect_language(text, {"en", "fr", "it"}) for text in texts]
    assert [detect_language(text, {"en", "fr", "it"}) for text in reversed(texts)] == alone[::-1]


def test_the_classifier_is_loaded_for_the_first_text_that_needs_it() -> None:
    program = (
        "import sys; from polyvox.text.detect import detect_language\n"
        "assert detect_language('Hello', {'en-us', 'zh'}) == 'en' and detect_language('你好') == 'zh'\n"
        "assert 'py3langid' not in sys.modules and 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@given(st.text())
@settings(deadline=None)
def test_every_text_has_an_answer(text: str) -> None:
    assert detect_language(text) in SENTENCES


def test_only_the_beginning_of_a_long_text_is_looked_at() -> None:
    detect_language("Hello")
    for text, language in (("你好" * 1_000_000, "zh"), ("Il a 20 ans. " * 100_000, "fr"), ("<" * 1_000_000, "en")):
        start = time.thread_time()
        assert detect_language(text) == language
        assert time.thread_time() - start < 0.5
