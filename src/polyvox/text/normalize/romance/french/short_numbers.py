"""Short phone numbers of France: "appelez le 3949", "le 3919, numéro gratuit"."""

import re
from typing import Final

from polyvox.text.normalize.romance.short_numbers import ShortNumbers

_ARTICLE: Final = r"(?<!\w)(?:[Ll]e|[Aa]u|[Dd]u|ou|et|tél\.?|téléphone|numéro(?: \w+)?)(?: ?:)? "

SHORT_NUMBERS: Final = ShortNumbers(
    called=re.compile(
        r"(?<!\w)(?:[Rr]?[Aa]?p?pel(?:ez|er|le[sz]?|ant|ons)?|[Cc]ompos(?:ez|er|ant|e|ons)|[Tt]él(?:éphon\w+)?"
        r"|[Jj]oi(?:gn\w+|ndre)|[Cc]ontact\w*|[Ff]aites|[Nn]uméro (?:vert|court|unique|gratuit|national|d'\w+)|SMS)"
        rf"(?!\w)(?:(?![!?\n]|\. [A-ZÀ-Ý]).)*{_ARTICLE}\Z|(?<!\w)[Tt]él\.? ?:? ?\Z"
    ),
    article=re.compile(r"(?<!\w)(?:[Ll]e|[Aa]u|[Dd]u) \Z"),
    service=re.compile(
        r"(?:,| \(| est| reste)? ?(?:le |un |du |de la |la )?"
        r"(?:numéro|ligne|plate-?forme|standard|appel |gratuit|joignable|accessible)"
    ),
    begins=("3", "10"),
    whole="",
    known=frozenset(
        "3008 3018 3020 3101 3114 3117 3237 3400 3615 3631 3635 3639 3646 3919 3939 3949 3975 3977".split()
    ),
)
