"""Reduplication written with a figure two, as in "budak2", "berjalan2" and "sekurang²nya"."""

import re
from typing import Final

from polyvox.text.normalize.malay.context import capitalised_like
from polyvox.text.normalize.malay.short_forms.acronyms import ACRONYMS
from polyvox.text.normalize.malay.short_forms.chat import expanded
from polyvox.text.tracked import TrackedText

_DOUBLED: Final = re.compile(
    r"(?<![^\W_])(?<!-)(?P<word>[A-Za-z][a-z]{2,19}|[A-Z]{3,20})(?P<mark>-?2|²)"
    r"(?P<end>nya|nye|an|kan|lah|la|ku|mu|i)?(?![^\W_]|[.,]\d|-\w)"
)
_TRIPLED: Final = re.compile(r"(?<![^\W_])(?<!-)(?P<word>[A-Za-z]{3,12})3(?![^\W_]|[.,]\d|-\w)")
_EMPHASISED: Final = frozenset("baik banyak best betul cepat jangan jauh laju lama maaf sangat sedap tolong".split())
_SHORTEST_IN_CAPITALS: Final = 4
_VOWEL: Final = re.compile("[aeiou]")
# What a two behind counts or names, instead of doubling it.
_NUMBERED: Final = frozenset(
    (
        "bab ber blok camp class cov covid day episod episode fasa fasal form grade group jenis kelas kumpulan "
        "level liga line lorong lot mac mph part per phase pkp plan ron room round season series siri tahap "
        "tier track type unit ver version wave week zon"
    ).split()
)
_PREFIXED: Final = re.compile(
    r"(?P<prefix>ber|ter|di)(?P<root>[a-z]{3,})|(?P<se>se)(?P<se_root>[a-z]{3,})"
    r"|(?P<verb>mem(?=[bf])|men(?=[cdjtz])|meng(?=[ghkaeiou])|me(?=[lrwymn]))(?P<verb_root>[a-z]{3,})"
)
# Words that merely begin like a prefix; they are doubled whole.
_WHOLE: Final = frozenset(
    (
        "berani beras berat berek berhala beri berita berlian bernas bersih beruang berudu berus dinas dinding diri "
        "melati melayu melur memang menang menantu menara mendung mentah mentega menteri mentimun mentol merah merak "
        "merbuk mercu merdu mereka meriah meriam merpati meter mewah terang terap teras teratai terbang teri teritip "
        "terminal terowong teruk teruna terung terus"
    ).split()
)
# With the prefix of "as … as possible" only these are known; most words begin with se by chance.
_AS_POSSIBLE: Final = frozenset(
    "seakan sebaik sebanyak sebesar seboleh secantik secepat sedapat sehabis sehari sekecil sekuat sekurang selama "
    "selambat selebih semahu semata semurah seolah sepandai sepenuh serajin setepat setidak setinggi sesuka".split()
)
_NASAL_KEPT: Final = {"mengada": "ngada", "mengira": "ngira", "mengejut": "ngejut"}


def read(text: TrackedText) -> TrackedText:
    return text.sub(_DOUBLED, _doubled).sub(_TRIPLED, _tripled)


def _doubled(match: re.Match[str]) -> str | None:
    word, mark, end = match["word"], match["mark"], (match["end"] or "").replace("nye", "nya")
    low = word.lower()
    if low in ACRONYMS:
        return word.upper() + "2" + end
    if low in _NUMBERED or (mark == "-2" and not word.islower()) or not _is_word(word):
        return None
    full = expanded(low) or low
    if " " in full:
        return None
    stem = "ke" if full == "kedua" else ""
    doubled = f"{full}-{_repeated(full).removeprefix(stem)}{end}"
    return doubled[0].upper() + doubled[1:] if word[0].isupper() else doubled


def _tripled(match: re.Match[str]) -> str | None:
    """ "betul3" insists; behind other words a three counts."""
    full = expanded(match["word"].lower()) or match["word"].lower()
    return capitalised_like(match["word"], "-".join((full,) * 3)) if full in _EMPHASISED else None


def _is_word(word: str) -> bool:
    """Return whether it can be doubled: a known short form, or something with a vowel that is no acronym."""
    low = word.lower()
    if word.isupper() and len(word) < _SHORTEST_IN_CAPITALS:
        return False
    return expanded(low) is not None or _VOWEL.search(low) is not None


def _repeated(word: str) -> str:
    """The part that is said twice: the root of a verb, the whole of anything else."""
    if word in _NASAL_KEPT:
        return _NASAL_KEPT[word]
    parts = _PREFIXED.fullmatch(word)
    if parts is None or word in _WHOLE:
        return word
    if parts["se"]:
        return parts["se_root"] if word in _AS_POSSIBLE else word
    return parts["root"] or parts["verb_root"]
