"""Abbreviations of titles, places, firms and writing, with their full stops and without."""

import re
from typing import Final

from polyvox.text.normalize.malay.context import capitalised_like, ends_sentence, last_words, word_after, word_before
from polyvox.text.tracked import TrackedText

# Before a name; a full stop behind never ends a sentence.
TITLES: Final = {
    "En": "Encik",
    "Pn": "Puan",
    "Tn": "Tuan",
    "Hj": "Haji",
    "Hjh": "Hajah",
    "Sdr": "Saudara",
    "Sdri": "Saudari",
    "Ust": "Ustaz",
    "Ustz": "Ustaz",
    "Ustzh": "Ustazah",
    "Kapt": "Kapten",
    "Kpt": "Kapten",
    "Kol": "Kolonel",
    "Mej": "Mejar",
    "Jen": "Jeneral",
    "Sjn": "Sarjan",
    "Kpl": "Koperal",
    "Insp": "Inspektor",
    "Supt": "Superintenden",
    "Mohd": "Mohamad",
    "Md": "Mohamad",
    "Muhd": "Muhammad",
    "Abd": "Abdul",
    "YBhg": "Yang Berbahagia",
    "YBrs": "Yang Berusaha",
}
# Titles that English sentences read their own way.
_SHARED_TITLES: Final = {
    "Dr": "Doktor",
    "Prof": "Profesor",
    "Lt": "Leftenan",
    "Mr": "Encik",
    "Mrs": "Puan",
    "Ms": "Cik",
}
# Before the name or the number of a place.
PLACES: Final = {
    "Jln": "Jalan",
    "Seks": "Seksyen",
    "Jl": "Jalan",
    "Lrg": "Lorong",
    "Lrng": "Lorong",
    "Lbh": "Lebuh",
    "Lbhraya": "Lebuhraya",
    "Psn": "Persiaran",
    "Psrn": "Persiaran",
    "Tmn": "Taman",
    "Kg": "Kampung",
    "Kpg": "Kampung",
    "Kmpg": "Kampung",
    "Sg": "Sungai",
    "Bkt": "Bukit",
    "Spg": "Simpang",
    "Smpg": "Simpang",
    "Bt": "Batu",
    "Tg": "Tanjung",
    "Tjg": "Tanjung",
    "Pdg": "Padang",
    "Gng": "Gunung",
    "Ldg": "Ladang",
    "Bdr": "Bandar",
    "Pkn": "Pekan",
    "Blk": "Blok",
    "Tkt": "Tingkat",
    "Ting": "Tingkatan",
    "Bhg": "Bahagian",
    "Jab": "Jabatan",
    "Kump": "Kumpulan",
    "Daer": "Daerah",
    "Kem": "Kementerian",
    "Pej": "Pejabat",
    "Syk": "Syarikat",
    "Kws": "Kawasan",
    "Kaw": "Kawasan",
    "Hosp": "Hospital",
    "Univ": "Universiti",
    "Sek": "Sekolah",
    "Keb": "Kebangsaan",
}
# Inside a sentence or at its end, where it keeps its full stop.
ANYWHERE: Final = {
    "dll": "dan lain-lain",
    "dsb": "dan sebagainya",
    "dsbnya": "dan sebagainya",
    "dst": "dan seterusnya",
    "dstnya": "dan seterusnya",
    "dkk": "dan kawan-kawan",
    "etc": "dan lain-lain",
    "bhd": "Berhad",
    "sdn": "Sendirian",
}
# Always inside a sentence; the full stop is dropped.
WITHIN: Final = {
    "cth": "contoh",
    "spt": "seperti",
    "sbg": "sebagai",
    "hlm": "halaman",
    "jil": "jilid",
    "jld": "jilid",
    "ruj": "rujukan",
    "tel": "telefon",
    "faks": "faks",
    "samb": "sambungan",
    "lwn": "lawan",
    "vs": "lawan",
    "maks": "maksimum",
    "dep": "deposit",
    "hub": "hubungi",
    "mesy": "mesyuarat",
    "agg": "agregat",
    "bhg": "bahagian",
    "kump": "kumpulan",
    "tamb": "tambahan",
    "jum": "jumlah",
    "kuant": "kuantiti",
    "tkh": "tarikh",
    "approx": "lebih kurang",
}
_DOTTED: Final = {
    "s.a.w": "sallallahu alaihi wasallam",
    "s.w.t": "subhanahu wataala",
    "a.s": "alaihissalam",
    "r.a": "radiallahu anhu",
    "i.e": "iaitu",
    "e.g": "contohnya",
    "a.k.a": "alias",
    "u.p": "untuk perhatian",
    "s.k": "salinan kepada",
    "b.p": "bagi pihak",
    "p.a": "setahun",
    "s.t": "setahun",
    "k.p": "kad pengenalan",
    "w.p": "Wilayah Persekutuan",
    "y.b": "Yang Berhormat",
    "y.a.b": "Yang Amat Berhormat",
}
SLASHED: Final = {
    "a/l": "anak lelaki",
    "a/p": "anak perempuan",
    "a/k": "anak",
    "s/o": "anak lelaki",
    "d/o": "anak perempuan",
    "c/o": "dengan alamat",
    "i/c": "IC",
    "k/p": "kad pengenalan",
    "u/p": "untuk perhatian",
    "d/a": "dengan alamat",
    "b/p": "bagi pihak",
    "s/d": "sampai dengan",
    "s/k": "salinan kepada",
    "w/p": "Wilayah Persekutuan",
    "w/pun": "walaupun",
    "t/hari": "tengah hari",
    "t/malam": "tengah malam",
    "t/mlm": "tengah malam",
    "t/away": "take away",
    "p/balik": "pergi balik",
    "t/jawab": "tanggungjawab",
    "t/laku": "tidak laku",
    "b/air": "bilik air",
    "b/tidur": "bilik tidur",
    "s/akhir": "separuh akhir",
    "s/usaha": "setiausaha",
    "s/u": "setiausaha",
    "p/raya": "pilihan raya",
    "p/kanan": "penolong kanan",
    "g/besar": "guru besar",
    "l/raya": "lebuh raya",
    "j/kuasa": "jawatankuasa",
    "k/kerja": "kertas kerja",
    "m/cycle": "motosikal",
    "h/phone": "handphone",
    "f/time": "full time",
    "p/time": "part time",
    "t/tangan": "tandatangan",
    "k/tangan": "kakitangan",
    "tn/pn": "Tuan atau Puan",
    "en/pn": "Encik atau Puan",
    "sdr/i": "saudara atau saudari",
    "sdr/sdri": "saudara atau saudari",
    "k/lumpur": "Kuala Lumpur",
    "k/terengganu": "Kuala Terengganu",
    "k/bharu": "Kota Bharu",
    "j/bahru": "Johor Bahru",
    "p/pinang": "Pulau Pinang",
    "n/sembilan": "Negeri Sembilan",
}
_HONOURS: Final = {
    "YB": "Yang Berhormat",
    "YAB": "Yang Amat Berhormat",
    "YAM": "Yang Amat Mulia",
    "YM": "Yang Mulia",
    "YBM": "Yang Berhormat Mulia",
    "YTM": "Yang Teramat Mulia",
    "DYMM": "Duli Yang Maha Mulia",
    "YDPA": "Yang di-Pertuan Agong",
}
_COMPARED: Final = {
    letters: words
    for words, shorts in {
        "tahun ke tahun": "YoY yoy YOY y-o-y Y-o-Y",
        "suku ke suku": "QoQ qoq QOQ q-o-q Q-o-Q",
        "bulan ke bulan": "MoM MOM m-o-m M-o-M",
    }.items()
    for letters in shorts.split()
}
_BLESSINGS: Final = {"SWT": "subhanahu wataala", "SAW": "sallallahu alaihi wasallam"}
_HOLY: Final = frozenset("allah baginda muhammad nabi rasulullah rasul".split())
_ESTUARIES: Final = (
    "Perlis Lumpur Terengganu Selangor Kangsar Krai Lipis Pilah Kedah Muda Besut Nerang Langat Berang".split()
)
_SHORT_PLACES: Final = {
    **{f"K. {name}": f"Kuala {name}" for name in _ESTUARIES},
    "T'ganu": "Terengganu",
    "K'tan": "Kelantan",
    "S'gor": "Selangor",
    "P'pinang": "Pulau Pinang",
    "N'sembilan": "Negeri Sembilan",
    "S'wak": "Sarawak",
    "S'pore": "Singapura",
    "S'pura": "Singapura",
    "M'sia": "Malaysia",
    "J'bahru": "Johor Bahru",
    "K'lumpur": "Kuala Lumpur",
    "S'ban": "Seremban",
    "P. Pinang": "Pulau Pinang",
    "N. Sembilan": "Negeri Sembilan",
    "N.Sembilan": "Negeri Sembilan",
    "K. Terengganu": "Kuala Terengganu",
    "K. Lumpur": "Kuala Lumpur",
    "K. Kangsar": "Kuala Kangsar",
    "K. Selangor": "Kuala Selangor",
    "K. Kinabalu": "Kota Kinabalu",
    "K. Bharu": "Kota Bharu",
    "P. Jaya": "Petaling Jaya",
    "J. Bahru": "Johor Bahru",
}
# Where "Bt." is a hill; elsewhere it is a milestone.
_HILLS: Final = frozenset(
    "Bintang Damansara Jalil Kiara Mertajam Aman Tinggi Beruntung Antarabangsa Katil Rambai".split()
)
_PUPILS: Final = frozenset("guru kelas murid pelajar peperiksaan sukatan ujian".split())
_SCHOOLS: Final = {"Men": "Menengah", "Keb": "Kebangsaan", "Ren": "Rendah"}
_AFTER_NUMBER: Final = frozenset(
    (
        "acc ahli akaun cukai daftar fail fon giliran hp ic invois kad kes kp kwsp laporan matrik meter pasport "
        "pekerja pelan pelanggan pendaftaran perkeso pesanan plat polis polisi resit rujukan rumah siri tel telefon "
        "tempahan tiket"
    ).split()
)
_FIGURE_FOLLOWS: Final = re.compile(r"(?: [A-Za-z/]{1,14}){1,3}:? ?\d")

# Common enough without a full stop; the others may be names or words then.
_UNDOTTED: Final = frozenset("Abd Bdr Bkt Blk Bt En Hj Hjh Jln Kg Lrg Md Mohd Muhd Pn Sg Tg Tmn Tn".split())

_NAME: Final = r"(?= ?[A-Z])"
_TITLE: Final = re.compile(rf"(?<![\w.'-])({'|'.join(TITLES)})(?P<stop>\.)?(?=(?(stop) ?| )[A-Z])")
# Where from, or since when; no name of a doctor.
_WHENCE: Final = re.compile(
    r"(?<![\w.'-])Dr(?= (?:abad|awal|dulu|hari|hasil|jumlah|kecil"
    r"|lahir|luar|mana|pagi|pihak|rumah|segi|semalam|sini|situ"
    r"|sudut|sumber|tahun|tadi|thn)\b)"
)
_SHARED_TITLE: Final = re.compile(
    rf"(?<![\w.'-])(Dr|Prof|Lt|Mrs|Mr|Ms)(?:\.{_NAME}|(?= [A-Z])|\.(?= [a-z]))|^Dr(?= [a-z])"
)
# In small letters, before a name in small letters; behind a comma or at the beginning "pn" is no "pun".
_SMALL_TITLES: Final = {
    "mr": "encik",
    "mrs": "puan",
    "en": "encik",
    "pn": "puan",
    "tn": "tuan",
    "hj": "haji",
    "hjh": "hajah",
    "dr": "doktor",
    "ust": "ustaz",
}
_SMALL_TITLE: Final = re.compile(
    r"(?<![\w.'/-])(?:(?P<title>mrs|mr|en|tn|hjh|hj|ust)\.?|(?P<stopped>dr|pn)\.|(?P<first>(?:^|(?<=[,.!?(\n] ))pn))"
    r"(?= [A-Za-z][a-z]{2,}| hjh? )",
    re.MULTILINE,
)
_PLACE: Final = re.compile(
    rf"(?<![\w.'-])(?<!\d )({'|'.join(PLACES)}|BDR|BKT|JLN|KG|LRG|SG|TMN|jln|lrg|tmn|bkt|tkt|blk|psn)(?P<stop>\.)?"
    r"(?= ?\d|(?(stop) ?| )[A-Z])"
)
_SCHOOL: Final = re.compile(r"(?<=\bSek\. )(Men|Keb|Ren)\.|(?<=\bSek )(Men|Keb|Ren)\b")
_SHORT_PLACE: Final = re.compile(rf"(?<![\w.])(?:{'|'.join(re.escape(name) for name in _SHORT_PLACES)})(?!\w)")
_FIRM: Final = re.compile(r"(?<![\w.'-])(?P<sdn>(?:Sdn|SDN)\b\.? ?)?(?P<bhd>Bhd|BHD)\b(?P<stop>\.)?")
_ANYWHERE: Final = re.compile(r"(?<![\w.'-])(dll|dsb|dsbnya|dst|dstnya|dkk|etc|[Ss]dn)\b(?P<stop>\.)?(?!\w)")
# Of a match, when a goal is scored or a card is shown.
_MINUTE: Final = re.compile(r"(?:(?<=gol )|(?<=jaringan )|(?<=merah )|(?<=kuning )|(?<=penalti ))min\.?(?= ?\d)")
_LEAST: Final = re.compile(r"(?<![\w.'-])(?<!\d )[Mm]in\.(?= ?-?\d)")
_SECTION: Final = re.compile(
    r"(?=[sS])(?:(?<=bawah )|(?<=mengikut )|(?<=menurut )|(?<=melanggar )|(?<=dengan )|(?<=\()"
    r"|(?<=\), )|(?<=Keseksaan, )|(?<=Keseksaan )|(?<=\d{4}, ))"
    r"[sS](?:ek|eks)?\. ?(?=\d)"
)
_APPENDIX: Final = re.compile(r"(?<![\w.'-])Lamp\. ?(?=(?:[A-Z]|\d{1,2})(?!\w))")
_HEADED: Final = re.compile(r"(?<![\w.'-])(?:[Rr]uj|RUJ|[Tt]kh)(?=:)")
_WITHIN: Final = re.compile(r"(?<![\w.'-])([A-Za-z]{2,6})\.(?=,? ?[\w(\"“]|:)")
_VERSUS: Final = re.compile(r"(?<=[\w)] )(?:(?:vs|lwn)\b\.?(?= [A-Za-z\d])|v\b\.?(?= [A-Z]))")
_NUMBER: Final = re.compile(
    r"(?<![\w.'-])(?P<no>[Nn][Oo])\b(?:\.|(?=:))?(?=:? ?(?:\d|[A-Z]{1,3}-?\d|(?P<noun>[A-Za-z]+(?:/[A-Za-z]+)?)))"
)
_LABEL: Final = re.compile(r"(?<![\w.'-])(?:[Tt]el|TEL)(?=:| ?\d| \(?[+0]| bimbit)|(?<=[Nn]ombor )(?:KP|[Tt]el)\b")
_BEFORE_FIGURE: Final = re.compile(r"(?<![\w.'/-])(m/s|ms\.|hlm\.?|hal\.|Bil\.|(?<!\d )bil\.)(?= ?\d)")
_BEFORE_FIGURES: Final = {
    "m/s": "muka surat",
    "ms": "muka surat",
    "hlm": "halaman",
    "hal": "halaman",
    "Bil": "Bilangan",
    "bil": "bilangan",
}
_SLASHED: Final = re.compile(rf"(?<![\w/])(?:{'|'.join(SLASHED)})(?![\w/])", re.IGNORECASE)
_DOTTED_LETTERS: Final = re.compile(r"(?<![\w.])(?:[A-Za-z]\.){2,}+(?:[A-Za-z](?![\w.']))?")
LABEL_WORDS: Final = frozenset(
    "vitamin blok kelas gred bahagian pelan menara jenis kumpulan pilihan zon hepatitis kategori lampiran".split()
)
"""Nouns that a letter behind them names."""
_INITIAL: Final = re.compile(r"(?<![\w./-])[A-Z]\.(?= ?[A-Z])")
_CHILD_OF: Final = re.compile(r"(?<=[a-z] )(?:b\.|bin\.|bt[ei]?\b\.?)(?= [A-Z])")
_HONOUR: Final = re.compile(rf"(?<![\w.'-])({'|'.join(_HONOURS)})(?= [A-Z])")
_COMPARISON: Final = re.compile(rf"(?<![\w.'-])(?:{'|'.join(_COMPARED)})(?![\w'-])")
_BLESSING: Final = re.compile(r"(?<=[a-z] )(SWT|SAW|swt|saw)(?!\w)")
# Words whose full stop never ends a sentence, for whoever cuts a text into sentences.
NEVER_END: Final = frozenset((*TITLES, *_SHARED_TITLES, *PLACES, *_SCHOOLS, *WITHIN, "No", "no", "Sdn", "bt", "bte"))


def read(text: TrackedText) -> TrackedText:
    """Abbreviations in full; letters with stops between them as capitals."""
    text = read_names(text.sub(_BEFORE_FIGURE, lambda match: _BEFORE_FIGURES[match[1].rstrip(".")] + _gap(match)))
    text = text.sub(_WHENCE, "Dari") if "Dr" in text.text else text
    text = text.sub(_SHARED_TITLE, lambda match: _SHARED_TITLES[match[1] or "Dr"] + _gap(match))
    text = text.sub(_SMALL_TITLE, _small_title)
    text = text.sub(_COMPARISON, lambda match: _COMPARED[match.group()])
    text = text.sub(_HONOUR, lambda match: _HONOURS[match[1]]).sub(_BLESSING, _blessing)
    text = text.sub(_NUMBER, _number).sub(_DOTTED_LETTERS, _dotted_letters).sub(_INITIAL, _initial)
    text = text.sub(_ANYWHERE, lambda match: ANYWHERE[match[1].lower()] + _final_stop(match))
    text = text.sub(_LABEL, _label)
    text = text.sub(_SECTION, "seksyen ").sub(_APPENDIX, "Lampiran ")
    text = text.sub(_MINUTE, "minit") if "min" in text.text else text
    text = text.sub(_LEAST, lambda match: capitalised_like(match.group(), "minimum"))
    text = text.sub(_HEADED, lambda match: capitalised_like(match.group(), WITHIN[match.group().lower()]))
    return text.sub(_VERSUS, "lawan").sub(_WITHIN, _within)


def read_names(text: TrackedText) -> TrackedText:
    """Abbreviations in Malaysian names of people, places and firms, in sentences of any language."""
    text = text.sub(_SLASHED, lambda match: SLASHED[match.group().lower()]).sub(_CHILD_OF, _child_of)
    text = text.sub(_SHORT_PLACE, lambda match: _SHORT_PLACES[match.group()]).sub(_FIRM, _firm)
    text = text.sub(_SCHOOL, lambda match: _SCHOOLS[match[1] or match[2]])
    text = text.sub(_TITLE, _title)
    return text.sub(_PLACE, _place)


def _gap(match: re.Match[str]) -> str:
    """A space where the full stop was all that stood between."""
    return "" if match.string[match.end() : match.end() + 1] == " " else " "


def _final_stop(match: re.Match[str]) -> str:
    return "." if match.group().endswith(".") and ends_sentence(match) else ""


def _title(match: re.Match[str]) -> str | None:
    return TITLES[match[1]] + _gap(match) if match["stop"] or match[1] in _UNDOTTED else None


def _small_title(match: re.Match[str]) -> str:
    return _SMALL_TITLES[match["title"] or match["stopped"] or match["first"]]


def _child_of(match: re.Match[str]) -> str | None:
    if not word_before(match)[:1].isupper():
        return None
    return "binti" if match.group().startswith("bt") else "bin"


def _place(match: re.Match[str]) -> str | None:
    name, following = match[1].capitalize(), word_after(match)
    numbered = match.string[match.end() : match.end() + 2].strip()[:1].isdigit()
    if not (match["stop"] or numbered or name in _UNDOTTED):
        return None
    if name == "Bt" and following in _HILLS:
        return "Bukit" + _gap(match)
    if name == "Sek" and numbered:
        return "Seksyen" + _gap(match)
    if name == "Tkt" and numbered and last_words(match) & _PUPILS:
        return "Tingkatan" + _gap(match)
    return capitalised_like(match[1], PLACES[name].lower()) + _gap(match)


def _firm(match: re.Match[str]) -> str:
    return ("Sendirian " if match["sdn"] else "") + "Berhad" + _final_stop(match)


def _number(match: re.Match[str]) -> str | None:
    """ "no" is a number before a figure, or before a noun that is numbered."""
    noun = match["noun"]
    if noun and not _is_numbered(match, noun):
        return None
    return capitalised_like(match["no"], "nombor") + (_gap(match) if match.group().endswith(".") else "")


def _is_numbered(match: re.Match[str], noun: str) -> bool:
    """Return whether the noun is known to have numbers, or stands in small letters or capitals before one."""
    if noun.lower().replace("/", "") in _AFTER_NUMBER:
        return True
    stopped = match.group().endswith(".") and (noun.islower() or noun.isupper())
    return stopped and _FIGURE_FOLLOWS.match(match.string, match.end(), match.end() + 56) is not None


def _dotted_letters(match: re.Match[str]) -> str:
    letters = match.group().rstrip(".").lower()
    return (_DOTTED.get(letters) or letters.replace(".", "").upper()) + _final_stop(match)


def _label(match: re.Match[str]) -> str:
    return "kad pengenalan" if match.group() == "KP" else capitalised_like(match.group(), "telefon")


def _initial(match: re.Match[str]) -> str | None:
    """An initial of a name; a letter that names a thing or a degree ends its sentence."""
    before = match.string[max(0, match.start() - 2) : match.start()]
    if "°" in before or word_before(match).lower() in LABEL_WORDS:
        return None
    return match.group()[0] + _gap(match)


def _blessing(match: re.Match[str]) -> str | None:
    return _BLESSINGS[match[1].upper()] if word_before(match).lower() in _HOLY else None


def _within(match: re.Match[str]) -> str | None:
    full = WITHIN.get(match[1].lower())
    return None if full is None else capitalised_like(match[1], full)
