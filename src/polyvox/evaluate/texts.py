"""The texts of an evaluation. The built-in ones are plain words, spelled the same in all varieties of English."""

from collections.abc import Iterable

ENGLISH = (
    "The kettle began to whistle before anyone had found the cups.",
    "She packed three books, a blanket and a small wooden box.",
    "Every winter the lake freezes hard enough to walk across.",
    "His brother bought the old bakery and painted the door green.",
    "Leave the window open, the kitchen is far too warm.",
    "We watched the boat turn slowly and head back to shore.",
    "A thin yellow fog hung over the fields until noon.",
    "Why did the choir stop singing just before the last verse?",
    "The judge read both letters twice and then shook her head.",
    "Fresh bread, sharp cheese and cold water were all they needed.",
    "Nobody on the bridge noticed the boy with the broken umbrella.",
    "If the weather holds, the workers will finish the roof by Thursday.",
)


def with_spoken_forms(lines: Iterable[str]) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Texts, and the spoken forms that follow some of them behind tabs."""
    fields = [[field.strip() for field in line.split("\t")] for line in lines]
    spoken = {text: tuple(filter(None, forms)) for text, *forms in fields if any(forms)}
    return tuple(text for text, *_ in fields if text), spoken
