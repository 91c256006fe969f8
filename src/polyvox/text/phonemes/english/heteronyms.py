"""Heteronyms: the part of speech of a word, from the words around it."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final

from polyvox.text.phonemes.english.clauses import OPENERS, has_article, has_other_verb, opens_with_order
from polyvox.text.phonemes.english.lexicon import Entry
from polyvox.text.phonemes.english.verbs import PASTS, THIRD_PERSONS
from polyvox.text.phonemes.english.word_classes import (
    ADJECTIVES,
    ADVERBS,
    AUXILIARIES,
    BE,
    CONJUNCTIONS,
    CONTEST,
    CUES,
    DETERMINERS,
    EYES,
    GO_LIVE,
    HAVE,
    LEADEN,
    LEADING,
    LET,
    MASS_CUES,
    MODALS,
    NOUN_TO,
    OBJECTS,
    PAST_CUES,
    PAST_FORMS,
    PEOPLE,
    PLAYED,
    PREPOSITIONS,
    SINGULAR_SUBJECTS,
    SIZES,
    STRINGS,
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
_BECOMING: Final = frozenset(
    "become becomes became becoming feel feels feeling felt get gets getting got gotten go goes going gone went grow "
    "grows growing grew grown turn turned even".split()
)
_BEFORE_TINY: Final = frozenset("has have had show shows of with in these those many some all even see".split())
_COUNTING: Final = frozenset("one per last next every each th".split())
_BEFORE_SMALL: Final = frozenset("is are was were so very almost seem seems".split())
_OF_READING: Final = frozenset(
    "pa rg pennsylvania berkshire england uk fc university festival station borough college railway abbey west".split()
)
_CERTAIN: Final = frozenset("it your that his her their them this".split())
_WHOLES: Final = frozenset(
    "whole entire full all email emails message messages thread note memo contract letter fine instructions docs "
    "article post report word transcript comments review reviews".split()
)
_THEN: Final = frozenset("yesterday ago last already just earlier".split())
_ENDS: Final = frozenset((".", ";", ":", "!", "?", "—", "–", "(", "…"))
_HABIT: Final = frozenset(
    "every always usually often never sometimes rarely daily weekly if before until unless while as how will would can "
    "do does should could must might to may let while".split()
)
_FILED: Final = frozenset("pdf doc docx pdfs attached attachment".split())
_OF_CLOSERS: Final = frozenset("bullpen deal new star former as trusted elite".split())
_DEER: Final = frozenset("buck bucks deer doe fawn fawns elk stag stags hunters hunt antlered antlerless".split())
_SMALL_NUMBERS: Final = frozenset(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty seventy eighty "
    "ninety hundred thousand the these those several many few and or both".split()
)
_TORN_ALONG: Final = frozenset("here along off out open apart into down across away at".split())
_SICK: Final = frozenset(
    "patient pt male female man woman boy girl child infant baby mother father who typically usually often commonly "
    "disease he she it".split()
)
_REAL_CLUBS: Final = frozenset(
    "madrid salt sociedad betis valladolid zaragoza oviedo mallorca monarchs murcia espana tomayapo cartagena".split()
)
_TESTED: Final = frozenset(
    "positive tested test tests traces micrograms milligrams deciliter levels screened blood soil paint".split()
)
_BEFORE_SURNAME: Final = frozenset("mayor mister missus miz doctor senator karen lance professor".split())
_NEAR: Final = 16  # words to either side that may tell the time of a sentence
_KEYS: Final[Mapping[Role, tuple[str, ...]]] = {
    Role.PLAIN: (),
    Role.NOUN: ("NOUN",),
    Role.VERB: ("VERB",),
    Role.PAST: ("VBD", "VBN", "VERB"),
    Role.ADJECTIVE: ("ADJ",),
    Role.ATTRIBUTE: ("ADJ", "NOUN"),
    Role.ADVERB: ("ADV",),
    Role.DETERMINER: ("DT",),
    Role.OTHER: ("OTHER",),
}


def chosen(entry: Entry, role: Role, *, before_break: bool) -> str | None:
    """The phonemes of an entry for a role; None for an acronym that is to be spelled."""
    if isinstance(entry, str):
        return entry
    if before_break and "None" in entry:
        return entry["None"]
    return next((entry[key] for key in _KEYS[role] if key in entry), entry["DEFAULT"])


def role_of(words: Sequence[str], index: int) -> Role:
    """The role of a heteronym. `words` are lower case; a mark of punctuation stands among them as itself."""
    word = words[index]
    if word in _PARTICULAR:
        return _PARTICULAR[word](words, index)
    return Role.OTHER if _is_hinted(words, index) else _general(words, index)


def _general(words: Sequence[str], index: int) -> Role:
    left = _left(words, index)
    by_left = _from_left(words, index, left)
    if by_left is not None:
        return by_left
    if _is_break(left):
        following = _at(words, index + 1)
        named = _is_plural(words[index]) or following in AUXILIARIES or following == "of"
        plain = Role.NOUN if named else Role.PLAIN
        return Role.VERB if _is_command(words, index) else plain
    if left in CONJUNCTIONS:
        return _coordinated(words, index)
    return _after_open_word(words, index, left)


def _from_left(words: Sequence[str], index: int, left: str) -> Role | None:
    """The role where the words to the left settle it."""
    if left in MODALS or left.endswith("'ll") or _is_bare_infinitive(words, index, left):
        return Role.VERB if not _is_plural(words[index]) else Role.NOUN
    if left in HAVE or (left in SUBJECTS and _at(words, index - 2) in HAVE):
        return Role.PAST if words[index] in PAST_FORMS else _nominal(words, index)
    if left in BE:
        return _predicate(words, index)
    if left == "one" and _at(words, index - 2) == "no":
        return Role.VERB
    if left in SUBJECTS or left in SINGULAR_SUBJECTS:
        return _after_subject(words, index, left)
    if left in DETERMINERS or left in PREPOSITIONS or left == "to" or left.endswith("'s") or left.isdigit():
        return _nominal(words, index)
    return None


def _after_subject(words: Sequence[str], index: int, left: str) -> Role:
    """`she objects`, `they object`, `did she object`; but not `everyone present` or `the people present`."""
    word, following = words[index], _at(words, index + 1)
    if left in SINGULAR_SUBJECTS:
        inverted = _at(words, index - 2) in MODALS
        return Role.VERB if _is_plural(word) or word in PAST_FORMS or inverted else Role.PLAIN
    named_after_be = left in PEOPLE and _is_break(following) and not BE.isdisjoint(words[max(0, index - _NEAR) : index])
    return Role.PLAIN if named_after_be else Role.VERB


def _nominal(words: Sequence[str], index: int) -> Role:
    """Inside a noun phrase: an adjective where a noun still follows, else the noun."""
    word, following = words[index], _at(words, index + 1)
    closed = _is_break(following) or following in CONJUNCTIONS or following in AUXILIARIES
    if closed or following in PREPOSITIONS or following in DETERMINERS or following in OBJECTS or following == "to":
        return Role.NOUN
    if following in SUBJECTS or following in SINGULAR_SUBJECTS or following in ADVERBS or following.endswith("ed"):
        return Role.NOUN
    if _is_plural(word):
        return Role.NOUN
    return Role.ADJECTIVE if word in ADJECTIVES else Role.ATTRIBUTE


def _predicate(words: Sequence[str], index: int) -> Role:
    """After a form of `be`: a participle, a plural noun, or an adjective."""
    if words[index] in PAST_FORMS:
        return Role.PAST
    return Role.NOUN if _is_plural(words[index]) else Role.ADJECTIVE


def _coordinated(words: Sequence[str], index: int) -> Role:
    """After `and` or `or`: the role of what stands on its other side."""
    following = _at(words, index + 1)
    if following in OBJECTS:
        return Role.VERB
    bare = not _is_plural(words[index]) and not _is_break(following) and following not in PREPOSITIONS
    if bare and opens_with_order(words, index) and words[index] not in ADJECTIVES and following not in AUXILIARIES:
        return Role.VERB
    for back in range(index - 2, max(-1, index - 7), -1):
        word = words[back]
        if word == "to" or word in MODALS:
            return Role.VERB
        if word in DETERMINERS or word in PREPOSITIONS:
            return _nominal(words, index)
        if _is_break(word):
            break
    return Role.PLAIN


def _after_open_word(words: Sequence[str], index: int, left: str) -> Role:
    """After a noun, verb or adjective of any kind: what follows decides, then the shape of both words."""
    word, following = words[index], _at(words, index + 1)
    if following == "of" or following in AUXILIARIES:
        return Role.NOUN
    if following in OBJECTS or left.startswith("help"):
        return Role.VERB
    if _is_plural(word):
        return Role.VERB if _is_verb_of_singular(words, index, left) else Role.NOUN
    if _is_plural(left) and not _after_article(words, index - 1):
        return Role.VERB if _is_free(words, index) else Role.ADJECTIVE if word in ADJECTIVES else Role.NOUN
    return Role.NOUN


def _is_free(words: Sequence[str], index: int) -> bool:
    """Return whether the clause still wants a verb, or the words behind can only follow one."""
    return not has_other_verb(words, index) or _follows_verb(_at(words, index + 1))


def _is_verb_of_singular(words: Sequence[str], index: int, left: str) -> bool:
    """Return whether a form in -s is a verb (`the camera records in colour`), not a plural (`bank records`)."""
    following = _at(words, index + 1)
    if has_article(words, index) and _follows_verb(following) and _at(words, index - 2) in _ARTICLES:
        return True
    if left in OPENERS or _is_plural(left) or _is_break(following) or has_other_verb(words, index):
        return False
    return has_article(words, index) or (following not in PREPOSITIONS and following not in CONJUNCTIONS)


def _read(words: Sequence[str], index: int) -> Role:
    """`read` is past after have and be, after he or she, and where the sentence tells of the past."""
    left = _left(words, index)
    if left in HAVE or left in BE or _is_asked_perfect(words, index, left):
        return Role.PAST
    if left in MODALS or left.endswith("'ll") or _is_bare_infinitive(words, index, left):
        return Role.VERB
    if left in DETERMINERS and left not in ("that", "which", "what"):
        return Role.NOUN
    if (left in SUBJECTS or left in SINGULAR_SUBJECTS) and _at(words, index - 2) in MODALS:
        return Role.VERB
    if left in SINGULAR_SUBJECTS:
        return Role.PAST
    if _is_break(left) and _at(words, index + 1) in OBJECTS and _is_order(words, index):
        return Role.VERB
    near = words[max(0, index - _NEAR) : index + _NEAR]
    past = any(word in PAST_CUES or (word.endswith("ed") and len(word) > 4) for word in near)
    if past or _tells_of_once(words, index, left):
        return Role.PAST
    known = left in SUBJECTS or left in ADVERBS or left in CONJUNCTIONS or left in PREPOSITIONS or _is_break(left)
    return Role.VERB if known or _is_plural(left) else Role.PAST


def _is_order(words: Sequence[str], index: int) -> bool:
    """Return whether `read` with its object opens a clause of its own: `Permits required, read the rules first`."""
    behind = words[index : index + _NEAR]
    if not _THEN.isdisjoint(behind):
        return False
    if index == 0 or words[index - 1] != ",":
        return True
    first = index - 1
    while first > max(0, index - _NEAR) and words[first - 1] not in _ENDS:
        first -= 1
    clause = words[first : index - 1]
    told = any(
        not _is_plural(before) if word.endswith("ed") and len(word) > 4 else word in PAST_CUES or word in PASTS
        for before, word in pairwise(("", *clause))
    )
    return not told or "if" in clause or "when" in clause[:1]


def _tells_of_once(words: Sequence[str], index: int, left: str) -> bool:
    """`I read it on Monday`: one certain thing, and nothing said of a habit or a condition."""
    following = _at(words, index + 1)
    all_of_it = following in ("the", "all", "every") and not _WHOLES.isdisjoint(words[index + 1 : index + 4])
    certain = left in ("i", "we", "they") and (following in _CERTAIN or all_of_it)
    reach = words[max(0, index - 3) : index + 7] if all_of_it else words[max(0, index - _NEAR) : index + _NEAR]
    return certain and _HABIT.isdisjoint(reach)


def _is_asked_perfect(words: Sequence[str], index: int, left: str) -> bool:
    """`have you ever read`: the auxiliary, the subject, and an adverb perhaps."""
    near = words[max(0, index - 4) : index]
    return (left in SUBJECTS or left in SINGULAR_SUBJECTS) and any(
        word in HAVE and following == left for word, following in pairwise(near)
    )


def _used(words: Sequence[str], index: int) -> Role:
    """`used to` as habit or custom, against `used to make` as purpose."""
    if _at(words, index + 1) != "to":
        return Role.PLAIN
    left, purpose = _left(words, index), _at(words, index + 2)
    if left in BE and left not in ("get", "getting", "got", "gets", "became", "become"):
        accustomed = purpose in DETERMINERS or purpose in OBJECTS or purpose.endswith("ing") or _is_break(purpose)
        return Role.PAST if accustomed else Role.PLAIN
    return Role.PAST


def _wound(words: Sequence[str], index: int) -> Role:
    """A wound, against what someone wound up."""
    left, following = _left(words, index), _at(words, index + 1)
    if left in DETERMINERS or left in MODALS or left == "to":
        return Role.NOUN
    if following in ("up", "down", "around", "round", "through", "its", "back", "tightly") or left in BE | HAVE:
        return Role.PAST
    return Role.PAST if left in SUBJECTS or left in SINGULAR_SUBJECTS or following in OBJECTS else Role.NOUN


def _live(words: Sequence[str], index: int) -> Role:
    """To live, against a live show and going live."""
    left, following = _left(words, index), _at(words, index + 1)
    if left in GO_LIVE or left.endswith("ing") or left in BE or (left == "it" and _at(words, index - 2) in GO_LIVE):
        return Role.ADJECTIVE
    if left in DETERMINERS and left not in ("that", "which", "who", "all", "both"):
        return Role.ADJECTIVE
    following_noun = following.isalpha() and following not in PREPOSITIONS | ADVERBS | CONJUNCTIONS | OBJECTS
    if left in PREPOSITIONS or (following_noun and left in THIRD_PERSONS | PASTS):
        return Role.ADJECTIVE
    if _is_break(left) and following in ("and", "with", "like", "well", "each", "your", "every", "as"):
        return Role.VERB
    homely = following in PREPOSITIONS or following in ADVERBS or following in ("together", "happily", "longer")
    return Role.VERB if homely and not _is_break(left) else _general(words, index)


def _lives(words: Sequence[str], index: int) -> Role:
    """Someone lives here, against their lives."""
    left = _left(words, index)
    if left in SINGULAR_SUBJECTS or left in ("who", "that", "which"):
        return Role.VERB
    if left in DETERMINERS or left in PREPOSITIONS or left.isdigit() or _is_break(left):
        return Role.NOUN
    following = _at(words, index + 1)
    placed = following in ("in", "at", "on", "with", "near", "here", "there", "alone", "by", "next", "off")
    if _is_plural(left) or left.endswith(("ed", "ing")) or _is_break(following):
        return Role.NOUN
    return Role.NOUN if has_other_verb(words, index) or not (placed or has_article(words, index)) else Role.VERB


def _close(words: Sequence[str], index: int) -> Role:
    """To close, against close by."""
    left, following = _left(words, index), _at(words, index + 1)
    role = _from_left(words, index, left)
    if role in (Role.VERB, Role.ADJECTIVE, Role.ATTRIBUTE):
        return role
    if role is Role.NOUN:
        return Role.NOUN if following == "of" else Role.ADJECTIVE
    if _is_break(left) and following in ("out", "down", "off"):
        return Role.VERB
    beside = _is_break(following) or following in ("by", "to", "together", "enough", "behind")
    beside = beside or (following == "at" and _at(words, index + 2) in ("hand", "heel"))
    return Role.VERB if following in OBJECTS or (_is_plural(left) and not beside) else Role.ADJECTIVE


def _lead(words: Sequence[str], index: int) -> Role:
    """The metal, which has no article (`tested for lead`), against the lead that somebody has or takes."""
    left, following = _left(words, index), _at(words, index + 1)
    if _from_left(words, index, left) is Role.VERB or following in ("to", "by", "with", "us", "them", "you", "me"):
        return Role.PLAIN
    if following in OBJECTS and left not in DETERMINERS and left not in PREPOSITIONS:
        return Role.PLAIN
    if following in LEADING:
        return Role.PLAIN
    if following in LEADEN or (following == "out" and _at(words, index - 2) in ("get", "gets", "got")):
        return Role.OTHER
    if not CONTEST.isdisjoint(words[max(0, index - _NEAR) : index + _NEAR]):
        return Role.PLAIN
    if _is_hinted(words, index):
        return Role.OTHER
    if (
        left in ("for", "of")
        and following not in OBJECTS
        and not _TESTED.isdisjoint(words[max(0, index - 6) : index + 6])
    ):
        return Role.OTHER
    ends = _is_break(following) or following in AUXILIARIES or following in CONJUNCTIONS or following == "in"
    return Role.OTHER if ends and (left in PREPOSITIONS or left in MASS_CUES) else Role.PLAIN


def _tear(words: Sequence[str], index: int) -> Role:
    """The noun that the eyes shed, against the verb for ripping."""
    left, following = _left(words, index), _at(words, index + 1)
    weeping = not EYES.isdisjoint(words[max(0, index - 6) : index + 5])
    if following == "up" and _at(words, index + 2) not in OBJECTS:
        return Role.NOUN
    if _is_hinted(words, index):
        return Role.OTHER
    if _is_break(left) and words[index] == "tear" and following in _TORN_ALONG:
        return Role.VERB
    torn = left in DETERMINERS or left in SIZES
    if following == "in" and words[index] == "tear" and torn and not weeping:
        return Role.OTHER
    return _general(words, index)


def _bass(words: Sequence[str], index: int) -> Role:
    """The fish, against the voice and the instrument that somebody plays or sings."""
    if _at(words, index - 1) in _BEFORE_SURNAME:
        return Role.OTHER
    played = _left(words, index).startswith(("play", "sing", "sang", "drum"))
    return Role.OTHER if not (played or _at(words, index + 1) in PLAYED) and _is_hinted(words, index) else Role.PLAIN


def _number(words: Sequence[str], index: int) -> Role:
    """More numb, against a figure: behind a verb of feeling or becoming, where nothing is counted."""
    following = _at(words, index + 1)
    open_ended = _is_break(following) or following in ("and", "by", "than", "as", "until", "with", "every", "still")
    return Role.OTHER if open_ended and _left(words, index) in _BECOMING else Role.PLAIN


def _minute(words: Sequence[str], index: int) -> Role:
    """Tiny, against the time: before a plural that no figure counts."""
    following, left = _at(words, index + 1), _at(words, index - 1)
    if left in _COUNTING:
        return Role.PLAIN
    tiny = _is_plural(following) and following != "hands" and left in _BEFORE_TINY
    described = left in _BEFORE_SMALL and (_is_break(following) or following in ("but", "and", "compared", "in"))
    return Role.OTHER if tiny or described or _is_hinted(words, index) else Role.PLAIN


def _reading(words: Sequence[str], index: int) -> Role:
    """The town, for the word with a capital: behind a preposition of place, or before what belongs to it."""
    following = _at(words, index + 1)
    located = _at(words, index + 2) if following == "," else following
    if located in _OF_READING:
        return Role.OTHER
    ends = _is_break(following) or following in AUXILIARIES or following in PREPOSITIONS
    led = _at(words, index - 1) in ("to", "from", "in", "near", "via", "at", "outside")
    return Role.OTHER if ends and led else Role.PLAIN


def _nice(words: Sequence[str], index: int) -> Role:
    """The city, for the word with a capital: behind a preposition of place, with nothing that it could describe."""
    following = _at(words, index + 1)
    ends = _is_break(following) or following in CONJUNCTIONS or following in PREPOSITIONS or following in AUXILIARIES
    return Role.OTHER if ends and _at(words, index - 1) in ("in", "to", "from", "near", "via", "and") else Role.PLAIN


def _resume(words: Sequence[str], index: int) -> Role:
    """To resume, against the paper that an applicant sends."""
    left, following = _left(words, index), _at(words, index + 1)
    role = _from_left(words, index, left)
    if not _FILED.isdisjoint(words[index + 1 : index + 7]) and role is not Role.VERB:
        return Role.OTHER
    if role is None and not _is_break(left) and not _is_plural(left) and has_article(words, index):
        return Role.OTHER
    if following in ("button", "command", "key", "option", "function", "playback"):
        return Role.VERB
    if role is Role.VERB or (role is None and not _is_break(left) and not left.endswith(("ing", "ed"))):
        return Role.OTHER if role is None and _is_hinted(words, index) else Role.VERB
    return role or (Role.OTHER if _is_hinted(words, index) else Role.VERB)


def _bow(words: Sequence[str], index: int) -> Role:
    """The front of a ship is "the bow of the ferry"; a bow of another kind has a purpose, not an owner."""
    if not STRINGS.isdisjoint(words[max(0, index - 2) : index + 3]):
        return Role.PLAIN
    if _is_hinted(words, index):
        return Role.OTHER
    stringed = not STRINGS.isdisjoint(words[max(0, index - _NEAR) : index + _NEAR])
    return Role.OTHER if _at(words, index + 1) == "of" and not stringed else _general(words, index)


def _row(words: Sequence[str], index: int) -> Role:
    """A quarrel is about or over something; things stand in a row."""
    quarrel = _left(words, index) in DETERMINERS and _at(words, index + 1) in ("over", "about")
    return Role.OTHER if quarrel or _is_hinted(words, index) else _general(words, index)


def _does(words: Sequence[str], index: int) -> Role:
    """Female deer: only they have an article."""
    left = _at(words, index - 1)
    counted = left in ("the", "these", "those", "several", "many", "few", "two", "three", "four", "five", "six")
    if counted or _is_hinted(words, index):
        return Role.OTHER
    herd = left in _SMALL_NUMBERS and not _DEER.isdisjoint(words[max(0, index - _NEAR) : index + _NEAR])
    return Role.OTHER if herd and _at(words, index + 1) not in OBJECTS | SUBJECTS | {"not"} else Role.PLAIN


def _use(words: Sequence[str], index: int) -> Role:
    """`put to use` and a `use case` are nouns where a verb could stand."""
    left, following = _left(words, index), _at(words, index + 1)
    put = left == "to" and not {"put", "puts", "putting"}.isdisjoint(words[max(0, index - 4) : index])
    named = following in ("case", "cases") and (_is_break(left) or left in DETERMINERS or not left.endswith("to"))
    put = put and (_is_break(following) or following in PREPOSITIONS or following in CONJUNCTIONS)
    return Role.NOUN if put or (named and left not in MODALS and left not in SUBJECTS) else _general(words, index)


def _presents(words: Sequence[str], index: int) -> Role:
    """A patient presents with a fever; birthday presents are given."""
    left, following = _left(words, index), _at(words, index + 1)
    shown = following in ("with", "to", "as", "for") and (left in _SICK or _is_break(left))
    return Role.VERB if shown else _general(words, index)


def _closer(words: Sequence[str], index: int) -> Role:
    """Nearer, against the pitcher or seller who closes."""
    left = _left(words, index)
    closes = (left.endswith("'s") or left in _OF_CLOSERS) and left not in BE
    return Role.NOUN if closes and _is_break(_at(words, index + 1)) else Role.ADJECTIVE


def _real(words: Sequence[str], index: int) -> Role:
    """A football club of Spain, or one named after it."""
    return Role.OTHER if _at(words, index + 1) in _REAL_CLUBS else Role.PLAIN


def _dove(words: Sequence[str], index: int) -> Role:
    """Dived, against the bird."""
    left, following = _left(words, index), _at(words, index + 1)
    moved = following in ("into", "in", "down", "under", "off", "for", "deep", "headfirst", "straight", "right", "from")
    if left in DETERMINERS or _is_break(left):
        return Role.NOUN
    return Role.VERB if moved and not has_other_verb(words, index) else _general(words, index)


def _content(words: Sequence[str], index: int) -> Role:
    """Content as a state, against content as matter."""
    left, following = _left(words, index), _at(words, index + 1)
    if left in BE or following in ("with", "to"):
        return Role.NOUN if left in DETERMINERS else Role.ADJECTIVE
    return Role.NOUN


def _entrance(words: Sequence[str], index: int) -> Role:
    """The way in; the verb has somebody whom it enchants."""
    return Role.VERB if _at(words, index + 1) in OBJECTS else Role.NOUN


def _invalid(words: Sequence[str], index: int) -> Role:
    """`her permit's invalid` tells of a permit; `the invalid` is ill."""
    described = _left(words, index).endswith("'s") and _is_break(_at(words, index + 1))
    return Role.ADJECTIVE if described else _general(words, index)


def _participle(words: Sequence[str], index: int) -> Role:
    """`a learned man` has its last syllable, `was blessed` and `we learned` have none."""
    described = _left(words, index) in DETERMINERS and not _is_break(_at(words, index + 1))
    return Role.ADJECTIVE if described else Role.PLAIN


def _that(words: Sequence[str], index: int) -> Role:
    """`that` that points (and is heard), against `that` that joins."""
    left, following = _at(words, index - 1), _at(words, index + 1)
    pointing = left in PREPOSITIONS or left in BE or left in MODALS or left in ("like", "all", "just", "not", "know")
    return Role.DETERMINER if _is_break(left) or _is_break(following) or pointing else Role.PLAIN


_PARTICULAR: Final = {
    "bass": _bass,
    "minute": _minute,
    "number": _number,
    "reading": _reading,
    "nice": _nice,
    "read": _read,
    "reread": _read,
    "used": _used,
    "wound": _wound,
    "live": _live,
    "lives": _lives,
    "content": _content,
    "close": _close,
    "lead": _lead,
    "tear": _tear,
    "tears": _tear,
    "resume": _resume,
    "resumes": _resume,
    "bow": _bow,
    "row": _row,
    "does": _does,
    "dove": _dove,
    "use": _use,
    "presents": _presents,
    "real": _real,
    "closer": _closer,
    "that": _that,
    "blessed": _participle,
    "cursed": _participle,
    "dogged": _participle,
    "learned": _participle,
    "entrance": _entrance,
    "invalid": _invalid,
}


def _is_hinted(words: Sequence[str], index: int) -> bool:
    """Return whether a word nearby gives the rarer sense away."""
    cue = CUES.get(words[index])
    if cue is None:
        return False
    near = words[max(0, index - 4) : index + 5]
    return any(word in cue for word in near)


def _left(words: Sequence[str], index: int) -> str:
    """The nearest word to the left that is no adverb; a break where there is none."""
    for back in range(index - 1, max(-1, index - 4), -1):
        word = words[back]
        if word not in ADVERBS and not (word.endswith("ly") and len(word) > 4):
            return word
    return ""


def _at(words: Sequence[str], index: int) -> str:
    return words[index] if 0 <= index < len(words) else ""


def _is_break(word: str) -> bool:
    return not word or not any(char.isalnum() for char in word)


def _is_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "is", "'s")) and len(word) > 3


def _after_article(words: Sequence[str], index: int) -> bool:
    return any(_at(words, back) in ("a", "an", "this", "each", "every") for back in (index - 1, index - 2))


def _is_command(words: Sequence[str], index: int) -> bool:
    """Return whether a clause that opens with the word is an order: its object follows, or whom it goes to."""
    following = _at(words, index + 1)
    return following in OBJECTS or (following in ("to", "with", "between") and words[index] not in ADJECTIVES)


def _is_bare_infinitive(words: Sequence[str], index: int, left: str) -> bool:
    """After `to` where an action follows, and after `let me`."""
    if left == "to":
        return not _is_noun_to(words, index)
    return left in ("me", "him", "her", "us", "them", "it") and _at(words, index - 2) in LET


def _follows_verb(word: str) -> bool:
    return word in ("to", "over", "through", "with", "by", "around", "when", "as", "if", "every") or word in ADVERBS


def _is_noun_to(words: Sequence[str], index: int) -> bool:
    """Return whether the `to` to the left leads to a thing (`according to record`), not to an action."""
    place = next(back for back in range(index - 1, -1, -1) if words[back] == "to")
    return _at(words, place - 1) in NOUN_TO
