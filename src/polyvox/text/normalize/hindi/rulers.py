"""Roman numerals behind the names of rulers and popes: लुई XIV, एलिज़ाबेथ II."""

import re
from typing import Final

from polyvox.text.normalize.hindi.numbers import ordinal
from polyvox.text.tracked import TrackedText

# Written with and without the dot that loanwords take.
_NAMES: Final = (
    "लुई जॉर्ज जार्ज चार्ल्स हेनरी एडवर्ड विलियम जेम्स एलिज़ाबेथ एलिजाबेथ मैरी "
    "रिचर्ड नेपोलियन फ़िलिप फिलिप फेलिप फ़ेलिप कार्ल कार्लोस फ़्रेडरिक फ्रेडरिक "
    "विल्हेम पीटर कैथरीन निकोलस अलेक्जेंडर अलेक्ज़ेंडर इवान पॉल पाल जॉन बेनेडिक्ट "
    "पायस लियो ग्रेगरी ग्रेगोरी क्लेमेंट अर्बन इनोसेंट फ़्रांसिस फ्रांसिस जोसेफ "
    "जोसेफ़ फ़र्डिनेंड फर्डिनेंड अल्फ़ोंसो अल्फोंसो क्रिश्चियन क्रिस्टियन गुस्ताव "
    "ओलाफ हेराल्ड हाराल्ड मार्गरेट मार्ग्रेथ लियोपोल्ड अल्बर्ट मुहम्मद मोहम्मद "
    "अब्दुल्ला अब्दुल्लाह मेहमेद सुलेमान मुराद सलीम हमीद हुसैन रामसेस रामेसेस "
    "टॉलेमी टोलेमी अकबर आलम बाजीराव चंद्रगुप्त चन्द्रगुप्त कुमारगुप्त पुलकेशिन "
    "राजेंद्र राजेन्द्र राजराज कृष्णराज माधवराव डेरियस ज़ेरक्सेस इमैनुएल फ्रांज़ "
    "मैक्सिमिलियन ओटो सिक्सटस बोनिफेस एड्रियन कॉन्स्टेंटाइन कॉन्स्टैंटाइन "
    "थियोडोसियस जस्टिनियन राम"
).split()
_NAMED: Final = {"I": "प्रथम", "II": "द्वितीय", "III": "तृतीय", "IV": "चतुर्थ", "V": "पंचम", "VI": "षष्ठ"}
# From here on both are said; these are more usual.
_LEARNED: Final = {"VII": "सप्तम", "VIII": "अष्टम", "IX": "नवम", "X": "दशम"}
_LATER: Final = dict(
    zip("XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI XXII XXIII".split(), map(str, range(11, 24)), strict=True)
)
_ORDINALS: Final = {**_NAMED, **_LEARNED, **{roman: ordinal(figure, "वें") for roman, figure in _LATER.items()}}
_RULER: Final = re.compile(
    rf"(?<![\u0900-\u097f])(?P<name>{'|'.join(_NAMES)}) (?P<numeral>[IVX]{{1,6}})(?: ?वें(?![\u0900-\u0963]))?"
    r"(?![A-Za-z\d]|[-'’][A-Za-z\d\u0904-\u0939]|(?<= [IVX])\. ?[A-Za-z\u0904-\u0939])"
)
_NUMERAL: Final = re.compile("[\u0900-\u0963] [IVX]")


def read(text: TrackedText) -> TrackedText:
    """The numerals as ordinals."""
    return text.sub(_RULER, _ruler) if _NUMERAL.search(text.text) else text


def _ruler(match: re.Match[str]) -> str | None:
    """None for letters that are no such number."""
    said = _ORDINALS.get(match["numeral"])
    return f"{match['name']} {said}" if said else None
