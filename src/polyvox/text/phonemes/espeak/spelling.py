"""Words that espeak-ng says wrong as they are written, in spellings that it says right.

A spelling keeps the number of words, so that sounds still meet the words of the text.
"""

import re
from collections.abc import Mapping
from typing import Final

_LETTER: Final = r"(?<=[a-zà-ÿ] ){0}(?= [A-Záéó](?: |$))|(?<=(?<!\S)[A-Záéó] ){0}(?= |$)"
"""A letter called by its name: among other letters, and no word that begins a clause."""
_BEGINS_IN_A_VOWEL: Final = (
    "ans?|années?|euros?|heures?|hommes?|habitants?|enfants?|élèves?|étudiants?|étages?|articles?|exemplaires?|unités?|"
    "hectares?|octets?|employés?|emplois?|entreprises?|étoiles?|images?|invités?|abonnés?|adhérents?|électeurs?"
)
_BYTES: Final = r"(?<!\w)((?:[KkMmGgTt](?:ilo|ega|iga|era)|[Qq]uilo)?)[Bb]yte(s?)(?!\w)"
_SPELLINGS: Final[Mapping[str, tuple[tuple[re.Pattern[str], str], ...]]] = {
    "fr": (
        # No t is heard in 82 to 91; one is in a hundred before a vowel.
        (re.compile(r"(?<!\w)quatre-vingt-(?!une?(?!\w))(?=[^\W\d_])"), "quatre-vin-"),
        (re.compile(rf"(?<!\w)(?<!pour )(cent) (?=(?:{_BEGINS_IN_A_VOWEL})(?!\w))"), r"\1t "),
        (re.compile(r"(?<!\w)((?:[Ll]['’])?)(?:INSEE|[Ii]nsee)(?!\w)"), r"\1insé"),
        (re.compile(r"(?<!\w)([Mm])aths(?!\w)"), r"\1at"),
    ),
    "pt-br": (
        (re.compile(_BYTES), r"\1baite\2"),
        *((re.compile(_LETTER.format(letter)), name) for letter, name in (("A", "á"), ("E", "é"), ("O", "ó"))),
    ),
    "es": ((re.compile(_LETTER.format("Y")), "igriega"), (re.compile(_BYTES), r"\1bait\2")),
    "it": ((re.compile(_BYTES), r"\1bait"), (re.compile(r"(?<!\w)[Ff]iles?(?!\w)"), "fail")),
    "hi": ((re.compile("एँ"), "एं"),),
}


def respelled(line: str, language: str) -> str:
    """The line as espeak-ng is to read it."""
    for pattern, spelling in _SPELLINGS.get(language, ()):
        line = pattern.sub(spelling, line)
    return line
