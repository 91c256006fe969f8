"""To live, against what is live; and those who live, against their lives."""

from collections.abc import Sequence
from typing import Final

from polyvox.text.phonemes.english.clauses import has_article, has_other_verb
from polyvox.text.phonemes.english.roles import Role, at, general, is_break, is_plural, left_of
from polyvox.text.phonemes.english.verbs import PASTS, THIRD_PERSONS
from polyvox.text.phonemes.english.word_classes import (
    ADVERBS,
    AUXILIARIES,
    BE,
    CONJUNCTIONS,
    DETERMINERS,
    GO_LIVE,
    OBJECTS,
    PREPOSITIONS,
    SINGULAR_SUBJECTS,
    SUBJECTS,
)

_CHANNELS: Final = frozenset(
    "air stage camera tv television radio espn bbc cnn fox nbc cbs abc itv hbo sky youtube twitch instagram facebook "
    "tiktok netflix peacock zoom stream".split()
)
_SHOWN: Final = GO_LIVE | frozenset(
    "announced boiled captured covered debuted delivered drawn filmed record recorded released sang screened seen "
    "shipped shot sing sold sung taped televised tested tracked traded".split()
)
_SENT_LIVE: Final = ("stream", "tweet", "blog", "cast", "chat")


def live_role(words: Sequence[str], index: int) -> Role:
    """To live, against a live show and going live."""
    left, following = left_of(words, index), at(words, index + 1)
    on_air = following in ("on", "from") and at(words, index + 2) in _CHANNELS
    if at(words, index - 1) == "live" or on_air or following.startswith(_SENT_LIVE):
        return Role.ADJECTIVE
    if left in GO_LIVE or left.endswith("ing") or left in BE or (left == "it" and at(words, index - 2) in GO_LIVE):
        return Role.ADJECTIVE
    if left in DETERMINERS and left not in ("that", "which", "who", "all", "both"):
        return Role.ADJECTIVE
    following_noun = following.isalpha() and following not in PREPOSITIONS | ADVERBS | CONJUNCTIONS | OBJECTS
    if _is_shown_live(words, index, left):
        return Role.ADJECTIVE
    if left in PREPOSITIONS or (following_noun and left in THIRD_PERSONS | PASTS):
        return Role.ADJECTIVE
    if is_break(left) and following in ("and", "with", "like", "well", "each", "your", "every", "as"):
        return Role.VERB
    homely = following in PREPOSITIONS or following in ADVERBS or following in ("together", "happily", "longer")
    return Role.VERB if homely and not is_break(left) else general(words, index)


def _is_shown_live(words: Sequence[str], index: int, left: str) -> bool:
    """`recorded the album live in Tokyo`, `sold live`: behind what is shown or sold, where no one is left to live."""
    if is_plural(left) or left in SUBJECTS or left in SINGULAR_SUBJECTS or left in AUXILIARIES or left == "to":
        return left in _SHOWN
    for back in range(index - 1, max(-1, index - 7), -1):
        word = words[back]
        if is_break(word) or word in CONJUNCTIONS or word in ("who", "that", "which", "where", "to"):
            return False
        if word in _SHOWN:
            return True
    return False


def lives_role(words: Sequence[str], index: int) -> Role:
    """Someone lives here, against their lives."""
    left = left_of(words, index)
    if left in SINGULAR_SUBJECTS or left in ("who", "that", "which"):
        return Role.VERB
    if left in DETERMINERS or left in PREPOSITIONS or left.isdigit() or is_break(left):
        return Role.NOUN
    following = at(words, index + 1)
    placed = following in ("in", "at", "on", "with", "near", "here", "there", "alone", "by", "next", "off")
    if is_plural(left) or left.endswith(("ed", "ing")) or is_break(following):
        return Role.NOUN
    return Role.NOUN if has_other_verb(words, index) or not (placed or has_article(words, index)) else Role.VERB
