"""The languages of recognised speech: their codes of two letters and of three, and their English names."""

from typing import Final, NamedTuple

from polyvox.errors import InvalidRequestError

_TABLE: Final = """
af afr afrikaans|am amh amharic|ar ara arabic|as asm assamese|az aze azerbaijani|ba bak bashkir|be bel belarusian
bg bul bulgarian|bn ben bengali|bo bod tibetan|br bre breton|bs bos bosnian|ca cat catalan|cs ces czech|cy cym welsh
da dan danish|de deu german|el ell greek|en eng english|es spa spanish|et est estonian|eu eus basque|fa fas persian
fi fin finnish|fo fao faroese|fr fra french|gl glg galician|gu guj gujarati|ha hau hausa|haw haw hawaiian
he heb hebrew|hi hin hindi|hr hrv croatian|ht hat haitian creole|hu hun hungarian|hy hye armenian|id ind indonesian
is isl icelandic|it ita italian|ja jpn japanese|jw jav javanese|ka kat georgian|kk kaz kazakh|km khm khmer
kn kan kannada|ko kor korean|la lat latin|lb ltz luxembourgish|ln lin lingala|lo lao lao|lt lit lithuanian
lv lav latvian|mg mlg malagasy|mi mri maori|mk mkd macedonian|ml mal malayalam|mn mon mongolian|mr mar marathi
ms msa malay|mt mlt maltese|my mya myanmar|ne nep nepali|nl nld dutch|nn nno nynorsk|no nor norwegian|oc oci occitan
pa pan punjabi|pl pol polish|ps pus pashto|pt por portuguese|ro ron romanian|ru rus russian|sa san sanskrit
sd snd sindhi|si sin sinhala|sk slk slovak|sl slv slovenian|sn sna shona|so som somali|sq sqi albanian|sr srp serbian
su sun sundanese|sv swe swedish|sw swa swahili|ta tam tamil|te tel telugu|tg tgk tajik|th tha thai|tk tuk turkmen
tl tgl tagalog|tr tur turkish|tt tat tatar|uk ukr ukrainian|ur urd urdu|uz uzb uzbek|vi vie vietnamese|yi yid yiddish
yo yor yoruba|zh zho chinese
"""
_OTHER_NAMES: Final = {"cmn": "zh", "mandarin": "zh", "jv": "jw", "iw": "he", "nb": "no", "fil": "tl", "burmese": "my"}
_TRADITIONAL: Final = frozenset(("hant", "tw", "hk", "mo"))
UNSPACED: Final = frozenset(("zh", "ja", "th", "lo", "my", "bo"))
"""Languages written without spaces between words."""


class SpokenLanguage(NamedTuple):
    """A language by its code of two letters (three where it has none), its code of three, and its name."""

    code: str
    alpha3: str
    name: str


LANGUAGES: Final = {
    row.split(" ", 2)[0]: SpokenLanguage(*row.split(" ", 2))
    for line in _TABLE.split("\n")
    if line
    for row in line.split("|")
}
_BY_NAME: Final = {
    **{each: row.code for row in LANGUAGES.values() for each in row},
    **_OTHER_NAMES,
}


def writes_traditional(written: str | None) -> bool:
    """Return whether a language that a caller names is Chinese in traditional characters: `zh-TW`, `zh-Hant`."""
    code, *subtags = (written or "").strip().lower().replace("_", "-").split("-")
    return _BY_NAME.get(code) == "zh" and bool(_TRADITIONAL & set(subtags))


def language_named(written: str, field: str = "language") -> str:
    """The code of a language that a caller names: `de`, `de-AT`, `deu` or `german`."""
    plain = written.strip().lower().replace("_", "-")
    code = _BY_NAME.get(plain) or _BY_NAME.get(plain.partition("-")[0])
    if code is None:
        raise InvalidRequestError(
            f"{written[:40]!r} is no language that can be recognised; send a code of ISO 639-1, such as 'en'.",
            field=field,
        )
    return code
