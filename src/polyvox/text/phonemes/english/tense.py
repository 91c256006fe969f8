"""The tense of `read`, which is written alike in both."""

from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import Final

from polyvox.text.phonemes.english.roles import NEAR, Role, at, is_bare_infinitive, is_break, is_plural, left_of
from polyvox.text.phonemes.english.verbs import PASTS
from polyvox.text.phonemes.english.word_classes import (
    ADVERBS,
    BE,
    CONJUNCTIONS,
    DETERMINERS,
    HAVE,
    MODALS,
    OBJECTS,
    PAST_CUES,
    PREPOSITIONS,
    SINGULAR_SUBJECTS,
    SUBJECTS,
)

_WHOLES: Final = frozenset(
    "whole entire full all email emails message messages thread note memo contract letter fine instructions docs "
    "article post report word transcript comments review reviews".split()
)
_THEN: Final = frozenset("yesterday ago last already just earlier".split())
_ENDS: Final = frozenset((".", ";", ":", "!", "?", "—", "–", "(", "…"))
# What a reader of a newspaper writes to have read it with.
_MOODS: Final = frozenset(
    "alarm amazement amusement concern delight disappointment disbelief dismay great horror interest pleasure sadness "
    "some surprise tears".split()
)
_ARTICLES: Final = frozenset("a an the my his her its our their".split())
_PRAISED: Final = frozenset(
    "amazing awesome beach bedtime boring brilliant compelling decent delightful dense depressing dull easy engaging "
    "enjoyable entertaining essential excellent fantastic fascinating fast fun funny good great gripping heavy holiday "
    "informative insightful interesting light long lovely must nice quick recommended satisfying short solid summer "
    "terrific thrilling tough wonderful worthwhile".split()
)
# Behind "Read" at the start of a sentence, these make a participle of it: "Read by millions, the paper ...".
_PARTICIPIAL: Final = frozenset("by as in aloud against alongside together".split())
_CERTAIN: Final = frozenset("it your that his her their them this".split())
_HABIT: Final = frozenset(
    "every always usually often never sometimes rarely daily weekly if before until unless while as how will would can "
    "do does should could must might to may let while".split()
)


def read_role(words: Sequence[str], index: int) -> Role:
    """`read` is past after have and be, after he or she, and where the sentence tells of the past."""
    left = left_of(words, index)
    if left in HAVE or left in BE or _is_asked_perfect(words, index, left):
        return Role.PAST
    if left in MODALS or left.endswith("'ll") or is_bare_infinitive(words, index, left):
        return Role.VERB
    if left in _PRAISED and (is_break(at(words, index + 1)) or at(words, index + 1) in PREPOSITIONS):
        return Role.NOUN
    qualified = at(words, index - 1)
    if left in _ARTICLES and qualified != left and (qualified.endswith("ly") or qualified in ("well", "best")):
        return Role.PAST
    if left in DETERMINERS and left not in ("that", "which", "what"):
        return Role.NOUN
    if (left in SUBJECTS or left in SINGULAR_SUBJECTS) and at(words, index - 2) in MODALS:
        return Role.VERB
    if left in SINGULAR_SUBJECTS or (at(words, index + 1) == "with" and at(words, index + 2) in _MOODS):
        return Role.PAST
    if is_break(left) and _opens_order(words, index) and _is_order(words, index):
        return Role.VERB
    near = words[max(0, index - NEAR) : index + NEAR]
    past = any(word in PAST_CUES or _is_regular_past(word) for word in near)
    if past or _tells_of_once(words, index, left):
        return Role.PAST
    known = left in SUBJECTS or left in ADVERBS or left in CONJUNCTIONS or left in PREPOSITIONS or is_break(left)
    return Role.VERB if known or is_plural(left) else Role.PAST


def _opens_order(words: Sequence[str], index: int) -> bool:
    """Return whether what `read` begins may be an order: before its object, or first in its sentence."""
    following = at(words, index + 1)
    first = index == 0 or words[index - 1] in _ENDS
    return following in OBJECTS or (first and not is_break(following) and following not in _PARTICIPIAL)


def _is_regular_past(word: str) -> bool:
    return word.endswith("ed") and len(word) > 4 and not word.endswith("eed") and word != "hundred"


def _is_order(words: Sequence[str], index: int) -> bool:
    """Return whether `read` with its object opens a clause of its own: `Permits required, read the rules first`."""
    behind = takewhile(lambda word: word not in _ENDS, words[index : index + NEAR])
    if not _THEN.isdisjoint(behind):
        return False
    if index == 0 or words[index - 1] != ",":
        return True
    first = index - 1
    while first > max(0, index - NEAR) and words[first - 1] not in _ENDS:
        first -= 1
    clause = words[first : index - 1]
    told = any(
        not is_plural(before) if _is_regular_past(word) else word in PAST_CUES or word in PASTS
        for before, word in pairwise(("", *clause))
    )
    return not told or "if" in clause or "when" in clause[:1]


def _tells_of_once(words: Sequence[str], index: int, left: str) -> bool:
    """`I read it on Monday`: one certain thing, and nothing said of a habit or a condition."""
    following = at(words, index + 1)
    all_of_it = following in ("the", "all", "every") and not _WHOLES.isdisjoint(words[index + 1 : index + 4])
    certain = left in ("i", "we", "they") and (following in _CERTAIN or all_of_it)
    reach = words[max(0, index - 3) : index + 7]
    if not all_of_it:
        before = takewhile(lambda word: word not in _ENDS, reversed(words[max(0, index - NEAR) : index]))
        behind = takewhile(lambda word: word not in _ENDS, words[index : index + NEAR])
        reach = [*(word for word in before if word != "to"), *behind]
    taken = certain and at(words, index + 2) == "as" and following in ("that", "it", "this")
    return taken or (certain and _HABIT.isdisjoint(reach))


def _is_asked_perfect(words: Sequence[str], index: int, left: str) -> bool:
    """`have you ever read`: the auxiliary, the subject, and an adverb perhaps."""
    near = words[max(0, index - 4) : index]
    return (left in SUBJECTS or left in SINGULAR_SUBJECTS) and any(
        word in HAVE and following == left for word, following in pairwise(near)
    )
