"""Short phone numbers of Italy: "chiama il 1522", "numero verde 1544"."""

import re
from typing import Final

from polyvox.text.normalize.romance.short_numbers import ShortNumbers

SHORT_NUMBERS: Final = ShortNumbers(
    called=re.compile(
        r"(?<!\w)(?:[Cc]hiam(?:a|are|ate|i|ando|ata|ate|iamo)|[Cc]ompo(?:ni|nga|rre|nete|nendo)|[Tt]elefon\w+|[Tt]el\."
        r"|[Cc]ontatt\w+|[Nn]umero (?:verde|antiviolenza|unico|gratuito|di pubblica utilità|d'emergenza)|SMS)"
        r"(?!\w)(?:(?![!?\n]|\. [A-ZÀ-Ý]).)*(?<!\w)(?:il|al|del|o|e|tel\.|verde|antiviolenza|unico|gratuito|utilità"
        r"|d'emergenza)(?: ?:)? \Z"
    ),
    article=re.compile(r"(?<!\w)(?:[Ii]l|[Aa]l|[Dd]el) \Z"),
    service=re.compile(r"(?:,| \(| è| resta)? ?(?:il |un |del )?(?:numero|linea|centralino|gratuito|attivo 24)"),
    begins=("12", "15"),
    whole="00",
)
