"""Parts of e-mail and web addresses that are said letter by letter: "rtve", "ufmg", "br"."""

import re
from typing import Final

from polyvox.text.normalize.romance.language import AcronymHabits

_LONGEST: Final = 6
_SHORT: Final = 4
_VOWEL: Final = re.compile("[aeiouyà-ÿ]")
# Consonants that begin a name of any language that is met on the web, before its first vowel.
_ONSET: Final = re.compile(
    r"(?:[bcdfgkptvw][lr]|[bcdgkprtwz]h[lr]?|[bcdfghj-np-tvwxzçñ]|s[chkp][lmnrw]?|str?|s[chklmnpqtvw]|[kpg][ns]|gm|ng"
    r"|ll|tch|ts|tw|dw|kw|mc|dj|fj|bj|sv|zw|xb)?(?=[aeiouyà-ÿ])"
)
# And those that end one.
_CODA: Final = re.compile(
    r"[aeiouyà-ÿ](?:[bcdfghj-np-tvwxzñ]|([b-dfgj-np-tz])\1|[bcdfgkmpt]s|[clmnprsw]t|[clnprsw]k|[clnrst]h|[fgkx]t|[fgklmnprstw]s"
    r"|[lnrw]d|[lrm]p|[lr][bcfgmn]|[rn]x|[nr]z|ng|sp|gh|ph|wn|wl|ml|rl|tz"
    r"|cks|ckr|mblr|ght|lls|lms|pps|n[dgkt]s|[nr]ch|r[dkmnpt]s|rst|rth|sts|tch|ths|tts|mps|l[dt]s|rld|nst)?\Z"
)
_INITIAL: Final = re.compile(r"[aeiouyà-ÿ][^aeiouyà-ÿ]{2}\Z")


def spelled_part(part: str, habits: AcronymHabits) -> str | None:
    """The letters of a known acronym, or of a part that no mouth can say; None for a word."""
    capitals = part.upper()
    if capitals in habits.in_addresses:
        return " ".join(capitals)
    if len(part) > _LONGEST or len(part) < 2 or capitals in habits.said:
        return None
    if not (_VOWEL.search(part) and _ONSET.match(part)):
        return " ".join(capitals)
    # A longer one with two consonants last may be a name and an initial: "luism".
    ends = _CODA.search(part) or (len(part) > _SHORT and _INITIAL.search(part))
    return None if ends else " ".join(capitals)
