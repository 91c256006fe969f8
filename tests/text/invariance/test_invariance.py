"""An item is read alike wherever it stands: beside any mark, in any markup, with any space."""

import pytest

from helpers.invariance.harness import Context, Item, Language, changed, report, spoken, words
from helpers.invariance.languages import LANGUAGES

CLASSES = [
    pytest.param(language, kind, id=f"{language.tag}-{kind}") for language in LANGUAGES for kind in language.items
]


@pytest.mark.long
@pytest.mark.parametrize(("language", "kind"), CLASSES)
def test_an_item_is_read_alike_in_all_contexts(language: Language, kind: str) -> None:
    lines = changed(language, kind)
    assert not lines, report(lines)


def test_every_language_has_a_thousand_cases() -> None:
    for language in LANGUAGES:
        spellings = sum(len(list(item.spellings(0))) for items in language.items.values() for item in items)
        assert spellings * len(language.contexts) > 1_000, language.tag


@pytest.mark.parametrize(
    ("item", "template"),
    [
        (Item("5 km", "five miles"), "They ran {} there."),
        (Item("5 km"), "They ran {}less there."),
        (Item("ends. Here"), "They wrote {} there."),
    ],
    ids=["another reading", "merged with its neighbour", "a sentence cut"],
)
def test_the_harness_finds_what_is_changed(item: Item, template: str) -> None:
    contexts = (Context(template), Context("They ran {} there."))
    language = Language("en", {"any": [item]}, contexts, plain="apples", carrier="They ran {} there")
    assert changed(language, "any")


def test_words_are_compared_without_marks_and_capitals_apart() -> None:
    assert words("At 5 P.M., “twenty-one” US dollars") == ("at", "5", "p", "m", "twenty", "one", "u", "s", "dollars")
    assert spoken("en", "One. Two!") == (("one",), ("two",))
