"""The channel of a broadcast, which shares its short form with the chapter of a book: "on Ch. 4 at 9"."""

import re
from typing import Final

_SHORT: Final = frozenset(("Ch", "ch", "Chs", "chs"))
_TUNED: Final = re.compile(
    r"\b(?:air(?:s|ed|ing)?|broadcast\w*|tun(?:e|es|ed|ing)|televised|[VU]HF|MIDI|DMX|[Ww]alkie\w*)\b[^.;\n]{0,48}\Z"
)
_ON_AIR: Final = re.compile(
    r"\b(?:TV|[Tt]elevision|[Tt]onite|[Tt]onight|[Ww]atch\w*|[Nn]ewscast|[Cc]able|[Aa]ntenna|[Ss]atellite|DVR|HDTV"
    r"|[Rr]adios?|[Rr]eruns?|[Ss]itcom|[Pp]remi[eè]re[sd]?|[Ff]inale|[Ee]pisodes?|[Kk]ickoff|[Tt]ip-?off|[Mm]ovies?"
    r"|[Ff]ilms?|[Ss]eries|[Ss]how(?:s|n|ing)?|[Gg]ames?|[Mm]atch|[Dd]ebate|[Nn]etwork|[Nn]ews|[Hh]ighlights|[Ll]ive"
    r"|PBS|NBC|CBS|ABC|FOX|BBC|ITV|ESPN|[Oo]scilloscope|[Mm]ixer|[Ss]ignal|[Tt]rigger)\b|★|\(\d{4}\)"
)
_TIMED: Final = re.compile(
    r" ?\d{1,3}(?:,? (?:(?:at|@) )?\d{1,2}(?:[:.]\d\d)?(?:/\d{1,2}c\b| ?[ap]\.?m\b)|,? (?:at|@) (?:\d|noon|midnight)"
    r"| (?:News|Sports|Weather|Action|Eyewitness|Morning)\b)"
)
_IN_BOOK: Final = re.compile(
    r"\b(?:[Rr]e-?read\w*|[Rr]ead(?:s|ers?|ing|ings)?|[Bb]ooks?|[Nn]ovels?|[Pp]ages?|pp?\.|pgs?\b|[Qq]uiz\w*|[Ee]xams?"
    r"|[Tt]ests?|[Mm]idterm|[Hh]omework|HW|[Nn]otes|[Tt]ext(?:book)?s?|[Ss]tudy|[Cc]hapters?|[Aa]uthors?|[Ss]ections?|[Ss]ec\."
    r"|[Ee]x(?:ercise)?s?\.?|[Pp]roblems?|[Qq]uestions?|[Qq]s|[Bb]ankruptcy|filed?|debtors?|Code|[Vv]erses?|[Vv]ol\.?"
    r"|manga|fic|wrote|writ\w+|[Oo]utline|[Ee]ssay|[Ll]ectures?|[Vv]ocab\w*|[Ss]yllabus|[Ss]poilers?)(?!\w)"
)
_REACH: Final = 160


def is_channel(word: str, match: re.Match[str]) -> bool:
    """Return whether a short form before a figure is a channel: it is tuned to, or what is on air stands beside it."""
    if word not in _SHORT:
        return False
    first, last = max(0, match.start() - _REACH), match.end() + _REACH
    if _TUNED.search(match.string, first, match.start()):
        return True
    if _IN_BOOK.search(match.string, first, last):
        return False
    timed = _TIMED.match(match.string, match.end()) is not None
    return timed or _ON_AIR.search(match.string, first, last) is not None
