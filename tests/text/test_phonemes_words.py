"""Single words: dictionaries, endings, compounds, names, and words that nobody has seen before."""

import pytest

from helpers.tables import each_row
from polyvox.text.phonemes.alphabet import ALPHABET
from polyvox.text.phonemes.english import g2p
from polyvox.text.phonemes.english.acronyms import camel_parts, is_pronounceable
from polyvox.text.phonemes.english.british import british
from polyvox.text.phonemes.english.digits import digit_words
from polyvox.text.phonemes.english.inflection import with_ed, with_ing, with_s
from polyvox.text.phonemes.english.lexicon import Variant, lexicon
from polyvox.text.phonemes.english.rules import ruled
from polyvox.text.phonemes.english.stress import audible, compounded, emphasised, last_strongest, weakened
from polyvox.text.phonemes.english.words import WordPhonemizer

US = WordPhonemizer(lexicon("us"), g2p.load("us"))
GB = WordPhonemizer(lexicon("gb"), g2p.load("gb"))


@each_row(
    ("word", "american", "british"),
    [
        ("tomato", "təmˈAɾO", "təmˈɑːtQ"),
        ("schedule", "skˈɛʤˌul", "ʃˈɛdjuːl"),
        ("Polish", "pˈOlɪʃ", "pˈQlɪʃ"),
        ("polish", "pˈɑlɪʃ", "pˈɒlɪʃ"),
        ("August", "ˈɔɡəst", "ˈɔːɡəst"),
        ("monday", "mˈʌndˌA", "mˈʌndA"),
    ],
)
def test_the_dictionary_knows_variant_and_case(word: str, american: str, british: str) -> None:
    assert US.read(word) == american
    assert GB.read(word) == british


@each_row("variant", ["us", "gb"])
def test_a_lexicon_is_read_once_and_cannot_be_changed(variant: Variant) -> None:
    words = lexicon(variant)
    assert words is lexicon(variant)
    with pytest.raises(TypeError):
        words.gold["new"] = "nˈu"  # type: ignore[index]


@each_row("variant", ["us", "gb"])
def test_own_entries_and_names_use_the_alphabet(variant: Variant) -> None:
    words = lexicon(variant)
    for word in ("lead", "résumé", "nguyen", "json"):
        entry = words.find(word)
        assert entry is not None
        sounds = [entry] if isinstance(entry, str) else list(entry.values())
        assert all(sound and set(sound) <= ALPHABET for sound in sounds)
    assert all(set(sound) <= ALPHABET for sound in words.names.values())


@each_row(
    ("stem", "american", "british"),
    [
        ("kˈæt", "kˈæts", "kˈæts"),
        ("dˈɔɡ", "dˈɔɡz", "dˈɔɡz"),
        ("bˈʌs", "bˈʌsᵻz", "bˈʌsɪz"),
        ("ʧˈɜɹʧ", "ʧˈɜɹʧᵻz", "ʧˈɜɹʧɪz"),
        ("kˈO", "kˈOz", "kˈOz"),
    ],
)
def test_the_plural_is_voiced_by_the_last_sound(stem: str, american: str, british: str) -> None:
    assert with_s(stem, "us") == american
    assert with_s(stem, "gb") == british


@each_row(
    ("stem", "american", "british"),
    [
        ("wˈɔk", "wˈɔkt", "wˈɔkt"),
        ("bˈɛɡ", "bˈɛɡd", "bˈɛɡd"),
        ("nˈid", "nˈidᵻd", "nˈidɪd"),
        ("pˈæt", "pˈæɾᵻd", "pˈætɪd"),
        ("wˈɑnt", "wˈɑntᵻd", "wˈɑntɪd"),
    ],
)
def test_the_past_tense_is_voiced_by_the_last_sound(stem: str, american: str, british: str) -> None:
    assert with_ed(stem, "us") == american
    assert with_ed(stem, "gb") == british


def test_an_american_t_is_tapped_before_ing_and_a_british_r_is_heard_again() -> None:
    assert with_ing("pˈæt", "us", "pat") == "pˈæɾɪŋ"
    assert with_ing("stˈɜː", "gb", "stir") == "stˈɜːɹɪŋ"
    assert with_ing("sˈɔː", "gb", "saw") == "sˈɔːɪŋ"


@each_row(
    ("word", "phonemes"),
    [
        ("regexes", "ɹˈɛʤˌɛksᵻz"),
        ("vlogged", "vlˈɑɡd"),
        ("livestreamed", "lˈIvstɹˌimd"),
        ("emojis", "ɪmˈOʤiz"),
        ("bitcoin's", "bˈɪtkˌYnz"),
        ("Nguyen's", "nəwˈinz"),
        ("there'd", "ðɛɹd"),
        ("what'll", "wˌʌɾᵊl"),
        ("who've", "hˌuv"),
    ],
)
def test_endings_are_put_on_known_words(word: str, phonemes: str) -> None:
    assert lexicon("us").find(word) is None
    assert US.read(word) == phonemes


@each_row(
    ("name", "phonemes"),
    [
        ("Michelle", "mɪʃˈɛl"),
        ("Sean", "ʃˈɔn"),
        ("Brian", "bɹˈIən"),
        ("Garcia", "ɡˌɑɹsˈiə"),
        ("Siobhan", "ʃəvˈɔn"),
        ("Tchaikovsky", "ʧIkˈɔfski"),
        ("Schwarzenegger", "ʃwˈɔɹtsənˌɛɡəɹ"),
        ("O'Brien", "ˌObɹˈIən"),
    ],
)
def test_names_are_known(name: str, phonemes: str) -> None:
    assert US.read(name) == phonemes


def test_american_names_turn_british() -> None:
    assert british("kˈɑɹɾəɹ", "carter") == "kˈɑːtə"
    assert british("ɡˈOldmən", "goldman") == "ɡˈQldmən"
    assert british("hˈɛɹi", "harry") == "hˈɛɹi"


UNKNOWN = {
    "blorptastic": "blɔɹptˈæstɪk",
    "zorbification": "zˌɔɹbəfəkˈAʃən",
    "snarfle": "snˈɑɹfᵊl",
    "quibblement": "kwˈɪbᵊlmənt",
    "megathon": "mˈɛɡəθˌɑn",
}


@each_row(("word", "phonemes"), UNKNOWN.items())
def test_unknown_words_are_read_as_they_are_spelled(word: str, phonemes: str) -> None:
    assert lexicon("us").find(word) is None
    assert US.read(word) == phonemes
    assert US.read(word.capitalize()) == phonemes


# Held out of the network's training, chosen by hash; what it says is compared with the dictionary.
HELD_OUT = "accompanist adverbial agarose amphibole anecdote aspirin bandit limerick parasol tambourine walnut".split()


def test_the_network_is_close_on_words_that_it_never_saw() -> None:
    from difflib import SequenceMatcher

    words = lexicon("us")
    likeness = [
        SequenceMatcher(None, g2p.load("us")(word), sound, autojunk=False).ratio()
        for word in HELD_OUT
        if isinstance(sound := words.find(word), str)
    ]
    assert len(likeness) == len(HELD_OUT)
    assert sum(likeness) / len(likeness) > 0.85


@each_row("variant", ["us", "gb"])
def test_the_network_gives_the_same_answer_every_time(variant: Variant) -> None:
    network = g2p._network()
    assert network("polyvoxification", variant) == network("polyvoxification", variant)


@each_row("word", ["a" * 31, "qwxz" * 8, "zzzzzz", "aeiouaeiou", "x" * 500])
def test_strange_letters_are_never_silent(word: str) -> None:
    for variant in ("us", "gb"):
        phonemes = g2p.load(variant)(word)
        assert phonemes.strip()
        assert set(phonemes) <= ALPHABET


class Mute:
    """A network that never says anything, or never stops."""

    def __init__(self, answer: str) -> None:
        self.answer = answer

    def __call__(self, word: str, variant: Variant) -> str:
        return self.answer


@pytest.mark.parametrize("answer", ["", "ppppp"])
def test_the_rules_step_in_for_a_network_that_fails(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(g2p, "_network", lambda: Mute(answer))
    assert g2p.load.__wrapped__("us")("banana") == ruled("banana", "us")


@each_row(
    ("word", "phonemes"),
    [
        ("ship", "ʃˈɪp"),
        ("phone", "fˈOn"),
        ("nation", "nˈæʃən"),
        ("knight", "nˈIt"),
        ("catch", "kˈæʧ"),
        ("mess", "mˈɛs"),
    ],
)
def test_rules_know_the_common_spellings(word: str, phonemes: str) -> None:
    assert ruled(word, "us") == phonemes


@each_row("word", ["e", "bcd", "rhythm", "queue", "x" * 100])
def test_rules_have_a_sound_for_every_letter(word: str) -> None:
    for variant in ("us", "gb"):
        assert set(ruled(word, variant)) - set("ˈ")


@each_row(
    ("digits", "words"),
    [
        ("0", "zero"), ("7", "seven"), ("13", "thirteen"), ("42", "forty two"), ("100", "one hundred"),
        ("365", "three hundred sixty five"), ("1999", "nineteen ninety nine"), ("2000", "two thousand"),
        ("2005", "two thousand five"), ("1900", "nineteen hundred"), ("1805", "eighteen oh five"),
        ("4090", "forty ninety"), ("007", "zero zero seven"), ("12345", "one two three four five"),
    ],
)  # fmt: skip
def test_digits_are_read_as_in_a_name(digits: str, words: str) -> None:
    assert " ".join(digit_words(digits)) == words


def test_stress_grows_and_yields() -> None:
    assert weakened("kˈɑmpˌWnd") == "kˌɑmpWnd"
    assert audible("ænd") == "ˌænd"
    assert audible("hmm") == "hmm"
    assert emphasised("ænd") == "ˈænd"
    assert emphasised("ˌænd") == "ˈænd"
    assert last_strongest(["ˈɛf", "bˈi", "ˈI"]) == "ˌɛfbˌiˈI"
    assert compounded(["wˈɛl", "nˈOn"]) == ["wˌɛl", "nˈOn"]


def test_capitals_and_mixed_case_are_told_apart() -> None:
    assert camel_parts("OpenAI") == ["Open", "AI"]
    assert camel_parts("HTMLElement") == ["HTML", "Element"]
    assert is_pronounceable("KOKORO")
    assert not is_pronounceable("HTTPS")
    assert not is_pronounceable("NHS")


def test_an_acronym_that_is_also_a_word_is_spelled_out() -> None:
    assert US.read("WHO") == "dˌʌbᵊljuˌAʧˈO"
    assert US.read("who") == "hˌu"
