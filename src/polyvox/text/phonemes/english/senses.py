"""Words whose sense has rules of its own, such as `lead`, `minute` and `close`."""

from collections.abc import Sequence
from typing import Final

from polyvox.text.phonemes.english.clauses import has_article, has_other_verb
from polyvox.text.phonemes.english.live import live_role, lives_role
from polyvox.text.phonemes.english.roles import (
    NEAR,
    Role,
    at,
    from_left,
    general,
    is_break,
    is_hinted,
    is_plural,
    left_of,
)
from polyvox.text.phonemes.english.tense import read_role
from polyvox.text.phonemes.english.word_classes import (
    AUXILIARIES,
    BE,
    CONJUNCTIONS,
    CONTEST,
    DETERMINERS,
    EYES,
    HAVE,
    LEADEN,
    LEADING,
    MASS_CUES,
    MODALS,
    OBJECTS,
    PLAYED,
    PREPOSITIONS,
    SINGULAR_SUBJECTS,
    SIZES,
    STRINGS,
    SUBJECTS,
)

_TURNED: Final = frozenset("around round onto".split())
_TO_END: Final = frozenset("to at by near before after until till since toward towards into past".split())
_BECOMING: Final = frozenset(
    "become becomes became becoming feel feels feeling felt get gets getting got gotten go goes going gone went grow "
    "grows growing grew grown turn turned even".split()
)
_BEFORE_TINY: Final = frozenset("has have had show shows of with in these those many some all even see".split())
_COUNTING: Final = frozenset("one per last next every each th".split())
_BEFORE_SMALL: Final = frozenset("is are was were so very almost seem seems".split())
_OF_READING: Final = frozenset(
    "pa rg pennsylvania berkshire england uk fc university festival station borough college railway abbey west "
    "terminal railroad phillies gaol berks line eagles".split()
)
_CONTENTED: Final = frozenset(
    "crowd man woman baby cat dog child children couple people person customer customers employee employees smile sigh "
    "look life heart workforce citizens retirees".split()
)
_GROUNDS: Final = frozenset(
    "legal theoretical scientific moral philosophical mathematical factual empirical genetic molecular neural "
    "conceptual "
    "ideological constitutional statutory biological historical orthonormal".split()
)
_ELDERLY: Final = frozenset(
    "man woman men women mother father parent parents aunt uncle grandmother grandfather couple people relative "
    "relatives lady gentleman king queen poet widow".split()
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
_OF_NICE: Final = frozenset("airport ville côte cote riviera carnival".split())
_NICE_THINGS: Final = frozenset(
    "and guy guys girl girls people work day days weather clothes try one new big little house things".split()
)
_IN_WATER: Final = frozenset(
    "water tap wells well soil paint blood toys dust samples pipes drinking air pottery spices".split()
)
_BEFORE_SURNAME: Final = frozenset("mayor mister missus miz doctor senator karen lance professor".split())


def _used(words: Sequence[str], index: int) -> Role:
    """`used to` as habit or custom, against `used to make` as purpose."""
    if at(words, index + 1) != "to":
        return Role.PLAIN
    left, purpose = left_of(words, index), at(words, index + 2)
    if left in BE and left not in ("get", "getting", "got", "gets", "became", "become"):
        accustomed = purpose in DETERMINERS or purpose in OBJECTS or purpose.endswith("ing") or is_break(purpose)
        return Role.PAST if accustomed else Role.PLAIN
    return Role.PAST


def _wound(words: Sequence[str], index: int) -> Role:
    """A wound, against what someone wound up."""
    left, following = left_of(words, index), at(words, index + 1)
    if left in DETERMINERS or left in MODALS or left == "to":
        return Role.NOUN
    if following in ("up", "down", "around", "round", "through", "its", "back", "tightly") or left in BE | HAVE:
        return Role.PAST
    if (
        not is_break(following)
        and following not in PREPOSITIONS
        and not _TURNED.isdisjoint(words[index + 2 : index + 5])
    ):
        return Role.NOUN if has_other_verb(words, index) else Role.PAST
    return Role.PAST if left in SUBJECTS or left in SINGULAR_SUBJECTS or following in OBJECTS else Role.NOUN


def _close(words: Sequence[str], index: int) -> Role:
    """To close, against close by."""
    left, following = left_of(words, index), at(words, index + 1)
    role = from_left(words, index, left)
    if role in (Role.VERB, Role.ADJECTIVE, Role.ATTRIBUTE):
        return role
    if role is Role.NOUN:
        ending = at(words, index - 1) in ("a", "the") and at(words, index - 2) in _TO_END
        return Role.NOUN if following == "of" or ending else Role.ADJECTIVE
    if is_break(left) and following in ("out", "down", "off"):
        return Role.VERB
    beside = is_break(following) or following in ("by", "to", "together", "enough", "behind")
    beside = beside or (following == "at" and at(words, index + 2) in ("hand", "heel"))
    return Role.VERB if following in OBJECTS or (is_plural(left) and not beside) else Role.ADJECTIVE


def _lead(words: Sequence[str], index: int) -> Role:
    """The metal, which has no article (`tested for lead`), against the lead that somebody has or takes."""
    left, following = left_of(words, index), at(words, index + 1)
    if from_left(words, index, left) is Role.VERB or following in ("to", "by", "with", "us", "them", "you", "me"):
        return Role.PLAIN
    if following in OBJECTS and left not in DETERMINERS and left not in PREPOSITIONS:
        return Role.PLAIN
    if following in LEADING:
        return Role.PLAIN
    if following in LEADEN or (following == "out" and at(words, index - 2) in ("get", "gets", "got")):
        return Role.OTHER
    if is_break(left) and following == "in" and not _IN_WATER.isdisjoint(words[index + 2 : index + 9]):
        return Role.OTHER
    if not CONTEST.isdisjoint(words[max(0, index - NEAR) : index + NEAR]):
        return Role.PLAIN
    if is_hinted(words, index):
        return Role.OTHER
    if (
        left in ("for", "of")
        and following not in OBJECTS
        and not _TESTED.isdisjoint(words[max(0, index - 6) : index + 6])
    ):
        return Role.OTHER
    ends = is_break(following) or following in AUXILIARIES or following in CONJUNCTIONS or following == "in"
    return Role.OTHER if ends and (left in PREPOSITIONS or left in MASS_CUES) else Role.PLAIN


def _tear(words: Sequence[str], index: int) -> Role:
    """The noun that the eyes shed, against the verb for ripping."""
    left, following = left_of(words, index), at(words, index + 1)
    reach = 3 if following == "in" and at(words, index + 2) in DETERMINERS else 6
    weeping = not EYES.isdisjoint(words[max(0, index - reach) : index + 5])
    if at(words, index - 1) == "a" and at(words, index - 2) == "on" and not weeping:
        return Role.OTHER
    if following == "up" and at(words, index + 2) not in OBJECTS:
        return Role.NOUN
    if is_hinted(words, index):
        return Role.OTHER
    if is_break(left) and words[index] == "tear" and (following in _TORN_ALONG or following == "up"):
        return Role.VERB
    torn = left in DETERMINERS or left in SIZES
    if following == "in" and words[index] == "tear" and torn and not weeping:
        return Role.OTHER
    return general(words, index)


def _bass(words: Sequence[str], index: int) -> Role:
    """The fish, against the voice and the instrument that somebody plays or sings."""
    if at(words, index - 1) in _BEFORE_SURNAME:
        return Role.OTHER
    played = left_of(words, index).startswith(("play", "sing", "sang", "drum"))
    return Role.OTHER if not (played or at(words, index + 1) in PLAYED) and is_hinted(words, index) else Role.PLAIN


def _number(words: Sequence[str], index: int) -> Role:
    """More numb, against a figure: behind a verb of feeling or becoming, where nothing is counted."""
    following = at(words, index + 1)
    open_ended = is_break(following) or following in ("and", "by", "than", "as", "until", "with", "every", "still")
    return Role.OTHER if open_ended and left_of(words, index) in _BECOMING else Role.PLAIN


def _minute(words: Sequence[str], index: int) -> Role:
    """Tiny, against the time: before a plural that no figure counts."""
    following, left = at(words, index + 1), at(words, index - 1)
    if left in _COUNTING:
        return Role.PLAIN
    tiny = is_plural(following) and following != "hands" and left in _BEFORE_TINY
    described = left in _BEFORE_SMALL and (is_break(following) or following in ("but", "and", "compared", "in"))
    return Role.OTHER if tiny or described or is_hinted(words, index) else Role.PLAIN


def _reading(words: Sequence[str], index: int) -> Role:
    """The town, for the word with a capital: behind a preposition of place, or before what belongs to it."""
    following = at(words, index + 1)
    located = at(words, index + 2) if following == "," else following
    if located in _OF_READING:
        return Role.OTHER
    ends = is_break(following) or following in AUXILIARIES or following in PREPOSITIONS
    led = at(words, index - 1) in ("to", "from", "in", "near", "via", "at", "outside")
    return Role.OTHER if ends and led else Role.PLAIN


def _nice(words: Sequence[str], index: int) -> Role:
    """The city, for the word with a capital: behind a preposition of place, with nothing that it could describe."""
    left, following = at(words, index - 1), at(words, index + 1)
    if following in _OF_NICE or (following == "," and at(words, index + 2) == "france"):
        return Role.OTHER
    if left in ("in", "to", "from", "near", "via", "outside"):
        return Role.PLAIN if following in _NICE_THINGS else Role.OTHER
    ends = is_break(following) or following in CONJUNCTIONS or following in PREPOSITIONS or following in AUXILIARIES
    return Role.OTHER if ends and left == "and" else Role.PLAIN


def _resume(words: Sequence[str], index: int) -> Role:
    """To resume, against the paper that an applicant sends."""
    left, following = left_of(words, index), at(words, index + 1)
    role = from_left(words, index, left)
    if not _FILED.isdisjoint(words[index + 1 : index + 7]) and role is not Role.VERB:
        return Role.OTHER
    if role is None and not is_break(left) and not is_plural(left) and has_article(words, index):
        return Role.OTHER
    if following in ("button", "command", "key", "option", "function", "playback"):
        return Role.VERB
    if role is Role.VERB or (role is None and not is_break(left) and not left.endswith(("ing", "ed"))):
        return Role.OTHER if role is None and is_hinted(words, index) else Role.VERB
    return role or (Role.OTHER if is_hinted(words, index) else Role.VERB)


def _bow(words: Sequence[str], index: int) -> Role:
    """The front of a ship is "the bow of the ferry"; a bow of another kind has a purpose, not an owner."""
    if not STRINGS.isdisjoint(words[max(0, index - 2) : index + 3]):
        return Role.PLAIN
    if is_hinted(words, index):
        return Role.OTHER
    stringed = not STRINGS.isdisjoint(words[max(0, index - NEAR) : index + NEAR])
    return Role.OTHER if at(words, index + 1) == "of" and not stringed else general(words, index)


def _row(words: Sequence[str], index: int) -> Role:
    """A quarrel is about or over something; things stand in a row."""
    quarrel = left_of(words, index) in DETERMINERS and at(words, index + 1) in ("over", "about")
    return Role.OTHER if quarrel or is_hinted(words, index) else general(words, index)


def _does(words: Sequence[str], index: int) -> Role:
    """Female deer: only they have an article."""
    left = at(words, index - 1)
    counted = left in ("the", "these", "those", "several", "many", "few", "two", "three", "four", "five", "six")
    if counted or is_hinted(words, index):
        return Role.OTHER
    herd = left in _SMALL_NUMBERS and not _DEER.isdisjoint(words[max(0, index - NEAR) : index + NEAR])
    return Role.OTHER if herd and at(words, index + 1) not in OBJECTS | SUBJECTS | {"not"} else Role.PLAIN


def _use(words: Sequence[str], index: int) -> Role:
    """`put to use` and a `use case` are nouns where a verb could stand."""
    left, following = left_of(words, index), at(words, index + 1)
    put = left == "to" and not {"put", "puts", "putting"}.isdisjoint(words[max(0, index - 4) : index])
    named = following in ("case", "cases") and (is_break(left) or left in DETERMINERS or not left.endswith("to"))
    put = put and (is_break(following) or following in PREPOSITIONS or following in CONJUNCTIONS)
    return Role.NOUN if put or (named and left not in MODALS and left not in SUBJECTS) else general(words, index)


def _presents(words: Sequence[str], index: int) -> Role:
    """A patient presents with a fever; birthday presents are given."""
    left, following = left_of(words, index), at(words, index + 1)
    shown = following in ("with", "to", "as", "for") and (left in _SICK or is_break(left))
    return Role.VERB if shown else general(words, index)


def _wind(words: Sequence[str], index: int) -> Role:
    """To wind up or down, where an order opens with it; the wind elsewhere."""
    order = is_break(left_of(words, index)) and at(words, index + 1) in ("up", "down", "it", "around")
    return Role.VERB if order else general(words, index)


def _closer(words: Sequence[str], index: int) -> Role:
    """Nearer, against the pitcher or seller who closes."""
    left = left_of(words, index)
    closes = (left.endswith("'s") or left in _OF_CLOSERS) and left not in BE
    return Role.NOUN if closes and is_break(at(words, index + 1)) else Role.ADJECTIVE


def _real(words: Sequence[str], index: int) -> Role:
    """A football club of Spain, or one named after it."""
    return Role.OTHER if at(words, index + 1) in _REAL_CLUBS else Role.PLAIN


def _dove(words: Sequence[str], index: int) -> Role:
    """Dived, against the bird."""
    left, following = left_of(words, index), at(words, index + 1)
    moved = following in ("into", "in", "down", "under", "off", "for", "deep", "headfirst", "straight", "right", "from")
    if left == "dove":
        return Role.VERB
    if left in DETERMINERS or is_break(left):
        return Role.NOUN
    return Role.VERB if moved and not has_other_verb(words, index) else general(words, index)


def _content(words: Sequence[str], index: int) -> Role:
    """Content as a state, against content as matter."""
    left, following = left_of(words, index), at(words, index + 1)
    if following in _CONTENTED:
        return Role.ADJECTIVE
    if left in BE or following in ("with", "to"):
        return Role.NOUN if left in DETERMINERS else Role.ADJECTIVE
    return Role.NOUN


def _entrance(words: Sequence[str], index: int) -> Role:
    """The way in; the verb has somebody whom it enchants."""
    return Role.VERB if at(words, index + 1) in OBJECTS else Role.NOUN


def _invalid(words: Sequence[str], index: int) -> Role:
    """`her permit's invalid` tells of a permit; `the invalid` is ill."""
    described = left_of(words, index).endswith("'s") and is_break(at(words, index + 1))
    return Role.ADJECTIVE if described else general(words, index)


def _participle(words: Sequence[str], index: int) -> Role:
    """`a learned man` has its last syllable, `was blessed` and `we learned` have none."""
    described = left_of(words, index) in DETERMINERS and not is_break(at(words, index + 1))
    return Role.ADJECTIVE if described else Role.PLAIN


def _that(words: Sequence[str], index: int) -> Role:
    """`that` that points (and is heard), against `that` that joins."""
    left, following = at(words, index - 1), at(words, index + 1)
    pointing = left in PREPOSITIONS or left in BE or left in MODALS or left in ("like", "all", "just", "not", "know")
    return Role.DETERMINER if is_break(left) or is_break(following) or pointing else Role.PLAIN


def _bases(words: Sequence[str], index: int) -> Role:
    """Several a basis; those of an army and of baseball elsewhere."""
    grounds = at(words, index - 1) in _GROUNDS or (
        at(words, index + 1) in ("of", "for") and at(words, index - 1) in ("the", "different")
    )
    return Role.OTHER if grounds and at(words, index - 1) != "loaded" else Role.PLAIN


def _aged(words: Sequence[str], index: int) -> Role:
    """An aged man has two syllables."""
    return Role.OTHER if at(words, index + 1) in _ELDERLY else Role.PLAIN


PARTICULAR: Final = {
    "aged": _aged,
    "bases": _bases,
    "bass": _bass,
    "minute": _minute,
    "number": _number,
    "reading": _reading,
    "nice": _nice,
    "read": read_role,
    "reread": read_role,
    "used": _used,
    "wound": _wound,
    "live": live_role,
    "lives": lives_role,
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
    "wind": _wind,
    "that": _that,
    "blessed": _participle,
    "cursed": _participle,
    "dogged": _participle,
    "learned": _participle,
    "entrance": _entrance,
    "invalid": _invalid,
}
