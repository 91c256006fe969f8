"""The part of speech of a word, from the words around it: what holds for any word."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from polyvox.text.phonemes.english.clauses import OPENERS, has_article, has_other_verb, opens_with_order
from polyvox.text.phonemes.english.word_classes import (
    ADJECTIVES,
    ADVERBS,
    AUXILIARIES,
    BE,
    CONJUNCTIONS,
    CUES,
    DETERMINERS,
    HAVE,
    LET,
    MODALS,
    NOUN_TO,
    OBJECTS,
    PAST_FORMS,
    PEOPLE,
    PREPOSITIONS,
    SINGULAR_SUBJECTS,
    SUBJECTS,
)


class Role(StrEnum):
    """The part of speech of a word; PLAIN where there is no evidence, OTHER for a rarer sense."""

    PLAIN = "plain"
    NOUN = "noun"
    VERB = "verb"
    PAST = "past"
    ADJECTIVE = "adjective"
    ATTRIBUTE = "attribute"  # before a noun: an adjective, or a noun that serves as one
    ADVERB = "adverb"
    DETERMINER = "determiner"
    OTHER = "other"


_ARTICLES: Final = frozenset(("the", "a", "an", "my", "this"))
_LABELLED: Final = frozenset("equation figure table section model exhibit chapter article chart panel".split())
# Plurals of initials that end like "this" and "bus", or are as short as "was".
_PLURAL_INITIALS: Final = frozenset(
    "ais apis bmis cds cpis cpus dbs dcs djs dms evs gis gpus ics ids ips kpis mps mris npus pcs prs rois rvs "
    "skus tpus tvs uis vcs vms vps".split()
)
_ASKING: Final = frozenset("do does did can could will would should must".split())
_ASKING_BE: Final = frozenset("am are is was were aren't isn't wasn't weren't r".split())
_ASKERS: Final = frozenset("how why when where so what and or but if then because".split())
_COLLECTIVE: Final = frozenset("police clergy cattle".split())
_ASKED: Final = 4
NEAR: Final = 16  # words to either side that may tell the time of a sentence


def general(words: Sequence[str], index: int) -> Role:
    left = left_of(words, index)
    if at(words, index - 2) in _LABELLED and is_plural(words[index]) and not is_break(at(words, index + 1)):
        return Role.VERB
    by_left = from_left(words, index, left)
    if by_left is not None:
        return by_left
    if _is_asked(words, index):
        return Role.VERB
    if is_break(left):
        following = at(words, index + 1)
        named = is_plural(words[index]) or following in AUXILIARIES or following == "of"
        plain = Role.NOUN if named else Role.PLAIN
        return Role.VERB if _is_command(words, index) or _is_next_order(words, index) else plain
    if left in CONJUNCTIONS:
        return _coordinated(words, index)
    return _after_open_word(words, index, left)


def _is_asked(words: Sequence[str], index: int) -> bool:
    """Return whether a question ends with the word, and its "does" still wants a verb: "which key does it use?"."""
    if at(words, index + 1) != "?" or is_plural(words[index]):
        return False
    before = words[max(0, index - NEAR // 2) : index]
    asked = [place for place, word in enumerate(before) if word in _ASKING]
    return bool(asked) and 0 < len(before) - 1 - asked[-1] < _ASKED and not any(map(is_break, before[asked[-1] :]))


def from_left(words: Sequence[str], index: int, left: str) -> Role | None:
    """The role where the words to the left settle it."""
    if (
        left in MODALS
        or at(words, index - 1) == "please"
        or left.endswith("'ll")
        or is_bare_infinitive(words, index, left)
    ):
        return Role.VERB if not is_plural(words[index]) else Role.NOUN
    if left in HAVE or (left in SUBJECTS and at(words, index - 2) in HAVE):
        return Role.PAST if words[index] in PAST_FORMS else nominal(words, index)
    if left in BE:
        return _predicate(words, index)
    if left == "one" and at(words, index - 2) == "no":
        return Role.VERB
    if (left in SUBJECTS or left in SINGULAR_SUBJECTS) and is_asked_of(words, index, left):
        return _predicate(words, index)
    if left in SUBJECTS or left in SINGULAR_SUBJECTS:
        return _after_subject(words, index, left)
    if left in DETERMINERS or left in PREPOSITIONS or left == "to" or left.endswith("'s") or left.isdigit():
        return nominal(words, index)
    return None


def is_asked_of(words: Sequence[str], index: int, left: str) -> bool:
    """Return whether a form of `be` stands before the subject: `are you close`, `were they still present`."""
    place = next(back for back in range(index - 1, -1, -1) if words[back] == left)
    return at(words, place - 1) in _ASKING_BE and (is_break(at(words, place - 2)) or at(words, place - 2) in _ASKERS)


def _after_subject(words: Sequence[str], index: int, left: str) -> Role:
    """`she objects`, `they object`, `did she object`; but not `everyone present` or `the people present`."""
    word, following = words[index], at(words, index + 1)
    if left in SINGULAR_SUBJECTS:
        inverted = at(words, index - 2) in MODALS
        return Role.VERB if is_plural(word) or word in PAST_FORMS or inverted else Role.PLAIN
    named_after_be = left in PEOPLE and is_break(following) and not BE.isdisjoint(words[max(0, index - NEAR) : index])
    return Role.PLAIN if named_after_be else Role.VERB


def nominal(words: Sequence[str], index: int) -> Role:
    """Inside a noun phrase: an adjective where a noun still follows, else the noun."""
    word, following = words[index], at(words, index + 1)
    closed = is_break(following) or following in CONJUNCTIONS or following in AUXILIARIES
    if closed or following in PREPOSITIONS or following in DETERMINERS or following in OBJECTS or following == "to":
        return Role.NOUN
    if following in SUBJECTS or following in SINGULAR_SUBJECTS or following in ADVERBS or following.endswith("ed"):
        return Role.NOUN
    if is_plural(word):
        return Role.NOUN
    return Role.ADJECTIVE if word in ADJECTIVES else Role.ATTRIBUTE


def _predicate(words: Sequence[str], index: int) -> Role:
    """After a form of `be`: a participle, a plural noun, or an adjective."""
    if words[index] in PAST_FORMS:
        return Role.PAST
    return Role.NOUN if is_plural(words[index]) else Role.ADJECTIVE


def _coordinated(words: Sequence[str], index: int) -> Role:
    """After `and` or `or`: the role of what stands on its other side."""
    following = at(words, index + 1)
    if following in OBJECTS:
        return Role.VERB
    if following == "of" and not is_plural(words[index]):
        return Role.NOUN
    bare = not is_plural(words[index]) and not is_break(following) and following not in PREPOSITIONS
    if bare and opens_with_order(words, index) and words[index] not in ADJECTIVES and following not in AUXILIARIES:
        return Role.VERB
    for back in range(index - 2, max(-1, index - 7), -1):
        word = words[back]
        if word == "to" or word in MODALS:
            return Role.VERB
        if word in DETERMINERS or word in PREPOSITIONS:
            return nominal(words, index)
        if is_break(word):
            break
    return Role.PLAIN


def _after_open_word(words: Sequence[str], index: int, left: str) -> Role:
    """After a noun, verb or adjective of any kind: what follows decides, then the shape of both words."""
    word, following = words[index], at(words, index + 1)
    if following == "of" or following in AUXILIARIES:
        return Role.NOUN
    if following in OBJECTS or left.startswith("help"):
        return Role.VERB
    opens = is_break(at(words, index - 2)) and left == at(words, index - 1)
    if left in _COLLECTIVE and opens and not is_break(following) and not has_other_verb(words, index):
        return Role.VERB if not is_plural(word) else Role.NOUN
    if is_plural(word):
        return Role.VERB if _is_verb_of_singular(words, index, left) else Role.NOUN
    if is_plural(left) and not _after_article(words, index - 1):
        return Role.VERB if _is_free(words, index) else Role.ADJECTIVE if word in ADJECTIVES else Role.NOUN
    return Role.NOUN


def _is_free(words: Sequence[str], index: int) -> bool:
    """Return whether the clause still wants a verb, or the words behind can only follow one."""
    return not has_other_verb(words, index) or _follows_verb(at(words, index + 1))


def _is_verb_of_singular(words: Sequence[str], index: int, left: str) -> bool:
    """Return whether a form in -s is a verb (`the camera records in colour`), not a plural (`bank records`)."""
    following = at(words, index + 1)
    if has_article(words, index) and _follows_verb(following) and at(words, index - 2) in _ARTICLES:
        return True
    if left in OPENERS or is_plural(left) or is_break(following) or has_other_verb(words, index):
        return False
    return has_article(words, index) or (following not in PREPOSITIONS and following not in CONJUNCTIONS)


def is_hinted(words: Sequence[str], index: int) -> bool:
    """Return whether a word nearby gives the rarer sense away."""
    cue = CUES.get(words[index])
    if cue is None:
        return False
    near = words[max(0, index - 4) : index + 5]
    return any(word in cue for word in near)


def left_of(words: Sequence[str], index: int) -> str:
    """The nearest word to the left that is no adverb; a break where there is none."""
    for back in range(index - 1, max(-1, index - 4), -1):
        word = words[back]
        if word not in ADVERBS and not (word.endswith("ly") and len(word) > 4):
            return word
    return ""


def at(words: Sequence[str], index: int) -> str:
    return words[index] if 0 <= index < len(words) else ""


def is_break(word: str) -> bool:
    return not word or not any(char.isalnum() for char in word)


def is_plural(word: str) -> bool:
    if word in _PLURAL_INITIALS:
        return True
    return word.endswith("s") and not word.endswith(("ss", "us", "is", "'s")) and len(word) > 3


def _after_article(words: Sequence[str], index: int) -> bool:
    return any(at(words, back) in ("a", "an", "this", "each", "every") for back in (index - 1, index - 2))


def _is_command(words: Sequence[str], index: int) -> bool:
    """Return whether a clause that opens with the word is an order: its object follows, or whom it goes to."""
    following = at(words, index + 1)
    if following in ("a", "an", "the", "your", "my", "his", "their", "our", "every", "each"):
        return not is_plural(words[index])
    return following in OBJECTS or (following in ("to", "with", "between") and words[index] not in ADJECTIVES)


def is_bare_infinitive(words: Sequence[str], index: int, left: str) -> bool:
    """After `to` where an action follows, and after `let me`."""
    if left == "to":
        return not _is_noun_to(words, index)
    return left in ("me", "him", "her", "us", "them", "it") and at(words, index - 2) in LET


def _is_next_order(words: Sequence[str], index: int) -> bool:
    """Return whether an order goes on with the word: `Read for an hour; record titles in the log`."""
    apart = at(words, index - 1) in (";", ",") and opens_with_order(words, index - 1)
    return apart and is_plural(at(words, index + 1)) and not has_other_verb(words, index)


def _follows_verb(word: str) -> bool:
    return word in ("to", "over", "through", "with", "by", "around", "when", "as", "if", "every") or word in ADVERBS


def _is_noun_to(words: Sequence[str], index: int) -> bool:
    """Return whether the `to` to the left leads to a thing (`according to record`), not to an action."""
    place = next(back for back in range(index - 1, -1, -1) if words[back] == "to")
    return at(words, place - 1) in NOUN_TO
