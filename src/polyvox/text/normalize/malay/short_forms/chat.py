"""Short forms of chat and notes, in full.

A form with two readings is expanded only where the words around it decide, or where one reading is all but certain.
"""

import re
from typing import Final

from polyvox.text.normalize.malay.context import capitalised_like, word_after, word_before
from polyvox.text.normalize.malay.lexicon import MALAY_WORDS
from polyvox.text.tracked import TrackedText


def _by_short_form(table: dict[str, str]) -> dict[str, str]:
    """A table of full words and their short forms, turned round."""
    return {short: full for full, shorts in table.items() for short in shorts.split()}


SHORT_FORMS: Final = _by_short_form(
    {
        "saya": "sy sya",
        "aku": "ak aq",
        "awak": "awk",
        "kami": "kmi",
        "kamu": "kmu",
        "kitorang": "ktorg kitorg",
        "diorang": "dorg diorg",
        "korang": "korg",
        "mereka": "mrk mrka",
        "orang": "org orng",
        "budak": "bdk bdak",
        "adik": "adk",
        "maghrib": "mghrb mgrb",
        "zohor": "zhr",
        "asar": "asr",
        "abang": "abg",
        "kawan": "kwn kwan",
        "saudara": "sdra",
        "pelajar": "pljr plajar",
        "cikgu": "cg ckgu",
        "yang": "yg yng",
        "dengan": "dgn dngn dngan ngn",
        "untuk": "utk utuk untk",
        "kepada": "kpd kpda",
        "daripada": "drpd drp drpda",
        "dari": "dri",
        "dalam": "dlm dalm",
        "pada": "pd pda",
        "sebab": "sbb sebb",
        "kerana": "krn krana",
        "kena": "kna kne",
        "sebagai": "sbg sbgai",
        "seperti": "spt sprti",
        "macam": "mcm mcam",
        "macam mana": "mcmn mcmna mcmane mcmana cmne cmna",
        "macam ini": "cmni mcmni",
        "macam itu": "cmtu mcmtu",
        "tapi": "tp tpi",
        "tetapi": "ttpi",
        "tetap": "tttp",
        "jika": "jk jka",
        "bawang": "bwg bwng",
        "minyak": "mnyk myk",
        "santan": "sntn",
        "tepung": "tpg tpung",
        "garam": "grm",
        "panas": "pns",
        "sejuk": "sjuk",
        "kemudian": "kmdn kmdian",
        "dibuka": "dbuka",
        "permohonan": "pmohonan",
        "hadir": "hdr",
        "maklumat": "mklumat",
        "segera": "sgra",
        "bawah": "bwh",
        "atas": "ats",
        "tingkat": "tgkt tngkt",
        "dengar": "dgr dngr",
        "lihat": "lht",
        "hilang": "hlg",
        "tukar": "tkr",
        "ganti": "gnti",
        "jual": "jul",
        "kosong": "ksg",
        "penuh": "pnuh",
        "cuti": "cti",
        "cawan": "cwn",
        "sudu": "sdu",
        "badan": "bdn",
        "pasang": "psg",
        "berat": "brt",
        "tinggi": "tggi tngi",
        "tambah": "tmbh",
        "campur": "cmpur",
        "masak": "msak",
        "goreng": "grg grng",
        "rebus": "rbs",
        "sayur": "syr",
        "daging": "dgg",
        "ikan": "ikn",
        "telur": "tlr",
        "percuma": "pcma prcuma",
        "penghantaran": "pghntrn pghantaran",
        "pesakit": "pskt",
        "ubat": "ubt",
        "doktor": "dktr",
        "jabatan": "jbtn",
        "syarikat": "syrkt",
        "pejabat": "pjbt",
        "mesyuarat": "msyrt mesyrt",
        "kuantiti": "qty",
        "pelanggan": "plgn plggn",
        "stok": "stk",
        "warna": "wrna",
        "saiz": "siz",
        "terkini": "trkini",
        "kerajaan": "krajaan krjaan",
        "peratus": "prts",
        "ringgit": "rgt",
        "perpuluhan": "ppuluhan",
        "kalau": "klu klau klo",
        "walaupun": "wlpn wlaupun walaupn",
        "sampai": "smp smpai smpi smpai smpe",
        "supaya": "spy spya",
        "sebelum": "sblm sblum",
        "selepas": "slps slpas",
        "lepas": "lps lpas",
        "semasa": "smasa",
        "sedang": "sdg sdang",
        "tentang": "ttg tntg tntang",
        "terhadap": "thdp trhdp",
        "tersebut": "tsb tsbt trsbt",
        "bahawa": "bhw bhwa",
        "oleh": "olh",
        "selain": "slain",
        "antara": "antra",
        "tidak": "tdk tdak",
        "tak": "tk",
        "tak ada": "tkde tkda",
        "tak apa": "tkpe",
        "tak nak": "tknak",
        "bukan": "bkn bkan",
        "belum": "blm blum",
        "jangan": "jgn jngn",
        "boleh": "blh bleh",
        "nak": "nk",
        "mesti": "mst msti",
        "mungkin": "mgkn mngkin",
        "memang": "mmg mmng",
        "perlu": "prlu",
        "dapat": "dpt dpat",
        "harap": "hrp",
        "sangat": "sgt sngt",
        "pasal": "psl",
        "pulak": "plak",
        "tunggu": "tggu tgu",
        "banyak": "byk bnyk bnyak",
        "sikit": "skit sket",
        "sedikit": "sdkt",
        "berapa": "brp brpa brapa brape",
        "lebih": "lbh lbih",
        "kurang": "krg",
        "lagi": "lg lgi",
        "dah": "dh",
        "sudah": "sdh sudh",
        "sekarang": "skrg skrang skg skang",
        "sekejap": "skjp skejap",
        "semalam": "smlm smalam",
        "tadi": "td tdi",
        "nanti": "nnt nnti nti",
        "esok": "esk sok",
        "hari": "hri hr",
        "malam": "mlm",
        "petang": "ptg ptang",
        "tengah": "tgh",
        "tengah hari": "tghari tghhari",
        "tahun": "thn tahn",
        "bulan": "bln",
        "minggu": "mgg mggu mnggu",
        "minit": "mnt",
        "pukul": "pkl pkul",
        "terus": "trs trus",
        "selalu": "slalu sllu",
        "kadang": "kdg kdng",
        "sekali": "skali skli",
        "selama": "slma",
        "beberapa": "bbrp",
        "sentiasa": "sntiasa",
        "makan": "mkn mkan",
        "minum": "mnum",
        "tengok": "tgk tgok tngok",
        "cakap": "ckp ckap",
        "bawa": "bwk bwak",
        "beli": "bli",
        "bayar": "byr byar",
        "jadi": "jd jdi",
        "jumpa": "jmpa",
        "kerja": "krja kje krje keje kije",
        "balik": "blk blik",
        "datang": "dtg dtng",
        "hantar": "hntr hantr",
        "tolong": "tlg tlong tlng",
        "faham": "fhm phm",
        "letak": "ltk",
        "beritahu": "bgtau bgthu btau",
        "tanya": "tnya",
        "jawab": "jwb",
        "pergi": "prgi",
        "keluar": "kluar klua",
        "habis": "hbs hbis",
        "terima": "trm trima",
        "kasih": "ksh",
        "terima kasih": "tksh tkasih",
        "tempat": "tmpt tmpat",
        "rumah": "rmh rmah umh",
        "sekolah": "sklh skolah",
        "barang": "brg brang",
        "harga": "hrga",
        "betul": "btl btul",
        "bagus": "bgs bgus",
        "cepat": "cpt cpat",
        "senang": "snang sng",
        "besar": "bsar bsr",
        "kecil": "kcl kcik",
        "lambat": "lmbt lmbat",
        "lama": "lma",
        "baru": "bru",
        "dekat": "dkt dkat",
        "semua": "smua smue",
        "sama": "sma",
        "bersama": "bsama",
        "sendiri": "sndiri",
        "punya": "pnya pny",
        "apabila": "apbl",
        "kenapa": "knp knapa npe",
        "siapa": "sape spe",
        "jugak": "jgk jgak",
        "juga": "jg",
        "saja": "sje sja",
        "sahaja": "shj shja",
        "malas": "mls",
        "letih": "ltih",
        "sedap": "sdp sdap",
        "mahal": "mhl",
        "salam": "slm",
        "selamat": "slmt",
        "waalaikumussalam": "wslm wksalam",
        "assalamualaikum": "askum aslkm",
        "tarikh": "tkh",
        "contoh": "cth",
        "sebelah": "sblh",
        "hadapan": "hdpn",
        "belakang": "blkg",
        "depan": "dpn",
        "dulu": "dlu",
        "anak": "ank",
        "hospital": "hosp",
        "setiap": "stp stiap",
        "sesiapa": "sspe",
        "bagitahu": "bgtahu",
        "selesai": "slsai",
        "kedai": "kdai",
        "sihat": "shat",
        "suruh": "srh",
        "tidur": "tdo tido",
        "cari": "cri",
        "pakai": "pki",
        "maklum": "mklm",
        "hujan": "hjn",
        "susah": "ssh",
        "mudah": "mdh",
        "negeri": "ngri",
        "lelaki": "llki",
        "perempuan": "pmpn",
        "simpan": "smpn",
        "ambil": "ambik amik",
        "kelas": "kls",
        "alamat": "almt",
        "nombor": "nmbr nmbor",
        "minta": "mnta",
        "kereta": "krta kreta",
        "masuk": "msk msuk",
        "jumlah": "jmlh",
        "semoga": "smg smoga",
        "akaun": "acc",
        "gambar": "gmbr gbr",
        "jalan": "jln",
        "darah": "drh",
        "paling": "plg",
        "akan": "akn",
        "pagi": "pgi",
        "maksud": "mksd",
        "bagaimana": "bgmn bgmana bgaimn",
        "lewat": "lwt",
        "awal": "awl",
        "jantung": "jntg",
        "tangan": "tgn",
        "kepala": "kpla",
        "menjadi": "mnjd mnjdi",
        "kawasan": "kwsn",
        "panjang": "pnjg",
        "pendek": "pndk",
        "penumpang": "pnmpg",
        "sini": "sni",
        "besok": "bsk",
        "marah": "mrh mrah",
    }
)
# Short forms of English that Malay chat uses, read as their users say them.
ENGLISH_SHORT_FORMS: Final = _by_short_form(
    {
        "thank you": "tq",
        "thank you very much": "tqvm",
        "thank you so much": "tqsm",
        "thanks": "thx tks",
        "please": "pls plz",
        "by the way": "btw",
        "on the way": "otw",
        "oh my god": "omg",
        "Facebook": "fb",
        "Instagram": "ig",
        "WhatsApp": "wsap wassap wasap",
        "handphone": "hp",
        "mesej": "msg",
        "birthday": "bday",
        "happy birthday": "hbd",
        "tomorrow": "tmr",
        "homework": "hw",
        "take care": "tc",
    }
)
# Written in capitals these are names of places, parties, brands or offices.
_NAMES_IN_CAPITALS: Final = frozenset("BLK BSR LPS MLS MMG MST SDG SNG SPE SPT".split())
_SHORTEST_IN_CAPITALS: Final = 3

_BEFORE: Final = re.compile(r"(?<![\w'@#.-])[bB]4(?![\w'@.-])")
_APART: Final = re.compile(r"(?<![\w'@#.-])([xX]) (?=(?:pe|pa|pyh|yah)(?!\w))")
_WORD: Final = re.compile(r"(?<![\w'@#.-])[A-Za-z]{2,12}(?![\w'@]|\.\w|-\w)")
_SUFFIXED: Final = re.compile(r"(?P<base>[A-Za-z]{2,8}?)(?P<suffix>nya|nye|lah|la|kah|kan)")
_NEGATED: Final = re.compile(r"(?<![\w'@#.-])(?P<x>[xX])(?P<word>[a-z]{2,10})(?![\w'@])")
_NEGATIONS: Final = {
    "de": "tak ada",
    "da": "tak ada",
    "dak": "tak ada",
    "pe": "tak apa",
    "pa": "tak apa",
    "yah": "tak payah",
    "yh": "tak payah",
    "pyh": "tak payah",
    "kesah": "tak kisah",
    "caya": "tak percaya",
    "sbr": "tak sabar",
    "ok": "tak okey",
}
# Verbs and qualities that chat joins to the x of "not", besides the words of every day.
_NEGATABLE: Final = frozenset("best kisah larat mau payah perasan puas reti sempat tahan".split())
_LETTER: Final = re.compile(
    r"(?<![\w'@#./=+*^²³-])(?<![=+*/<>^-] )"
    r"(?:(?<=\d )x(?=\?)|(?<!\d )[xX](?= (?P<next>[a-z]{1,12})|[?!,]|\.(?!\w)|$)|[dp](?= [a-z])|n(?= [A-Za-z\d]))"
)
_LETTERS: Final = {"d": "di", "n": "dan", "p": "pergi"}
# A lone letter behind one of these is a letter.
_LABELS: Final = frozenset(
    "abjad faktor gen generasi gred huruf jawapan kelas kategori koordinat kumpulan model nilai paksi pelan "
    "pilihan set sinar titik vitamin".split()
)
# "pg" is "pagi" behind a time, a day or a greeting, else "pergi".
_BEFORE_MORNING: Final = frozenset(
    "awal esk esok hari isnin jumaat khamis rabu sabtu selamat selasa semalam setiap slmt tadi td tiap".split()
)
_LATER: Final = re.compile(r"[^.!?\n]{0,40}\b(?:ptg|petang|mlm|malam|tgh hari|tengah hari)\b")
_DOSED: Final = re.compile(r"\d (?:unit|biji|tablet|kapsul|sudu|titis|kali|sedutan) $")
_GREETINGS: Final = frozenset("assalamualaikum askum salam waalaikumsalam waalaikumussalam".split())
# What a doctor does.
_TREATS: Final = frozenset(
    "bagi beri cakap cek ckp ckap kata nasihatkan pesan rawat sahkan suruh syorkan tulis".split()
)
# Names that one comes from.
_MET: Final = frozenset(
    "bersama bertemu dengan dgn hubungi jumpa kata kepada klinik kpd menurut oleh pakar rujuk tanya temui yang".split()
)
_WHENCE: Final = frozenset(
    "Bandar Bangi Bukit China Hospital Indonesia Ipoh JB Jalan Johor KL Kajang Kampung Kedah Kelantan Klang Kota Kuala "
    "Kuching Malaysia Melaka Pahang Penang Perak Perlis Petaling Pulau Sabah Sarawak Sekolah Selangor Seremban Shah "
    "Singapura Sungai Taman Terengganu Thailand Universiti".split()
)


def read(text: TrackedText) -> TrackedText:
    """Short forms, negations with x, and the lone letters of chat."""
    text = text.sub(_APART, lambda match: match[1])
    text = text.sub(_BEFORE, lambda match: capitalised_like(match.group(), "before"))
    return text.sub(_WORD, _word).sub(_NEGATED, _negated).sub(_LETTER, _letter)


def expanded(word: str) -> str | None:
    """The full form of a word in small letters, if it is a short form."""
    return SHORT_FORMS.get(word) or ENGLISH_SHORT_FORMS.get(word)


def _word(match: re.Match[str]) -> str | None:
    written = match.group()
    word = written.lower()
    if written.isupper() and not _is_shouted(match):
        return None
    in_context = _in_context(match, word)
    full = in_context if in_context is not None else expanded(word) or _with_suffix(word)
    return None if full is None else capitalised_like(written, full)


def _is_shouted(match: re.Match[str]) -> bool:
    """Return whether capitals are loud, as the words around them are, and not those of a name."""
    written = match.group()
    before = word_before(match)
    neighbours = ("" if before.endswith(".") else before, word_after(match))
    loud = all(word.isupper() or word == "" for word in neighbours) and any(len(word) > 1 for word in neighbours)
    known = len(written) >= _SHORTEST_IN_CAPITALS or written == "YG"
    return loud and known and written not in _NAMES_IN_CAPITALS


def _with_suffix(word: str) -> str | None:
    """ "sbbnya" is "sebabnya"."""
    parts = _SUFFIXED.fullmatch(word)
    base = SHORT_FORMS.get(parts["base"]) if parts and len(parts["base"]) > 2 else None
    return None if base is None or parts is None else base + parts["suffix"].replace("nye", "nya")


def _in_context(match: re.Match[str], word: str) -> str | None:
    """Forms that their neighbours decide."""
    if word == "dr":
        return _from_or_doctor(match) if match.group().islower() else None
    if word == "pn":
        return "pun" if match.group().islower() else None
    if word == "pg":
        return (
            "pagi"
            if _after_figure(match)
            or _DOSED.search(match.string[: match.start()])
            or _is_forenoon(match)
            or word_before(match).lower() in _BEFORE_MORNING
            else "pergi"
        )
    if word == "kn":
        return "kan" if match.string[match.end() : match.end() + 1] in ("", "?", "!", ".", ",", "\n") else None
    if word in ("wbt", "wrwb"):
        return "warahmatullahi wabarakatuh" if word_before(match).lower() in _GREETINGS else None
    if word in ("bg", "kt"):
        return {"bg": "bagi", "kt": "kat"}[word] if word_after(match) else None
    return None


def _is_forenoon(match: re.Match[str]) -> bool:
    """Return whether a part of a forecast begins, which goes on with the afternoon."""
    begins = match.string[max(0, match.start() - 2) : match.start()].strip()[-1:] in (":", ",", "(", "")
    return begins and _LATER.match(match.string, match.end()) is not None


def _after_figure(match: re.Match[str]) -> bool:
    return match.string[max(0, match.start() - 2) : match.start()].strip()[-1:].isdigit()


def _from_or_doctor(match: re.Match[str]) -> str:
    """Before a name "dr" is a doctor where people are met or asked, as it is before what a doctor does; whatever else
    comes from there."""
    following = word_after(match)
    if following in _TREATS:
        return "doktor"
    met = word_before(match).lower() in _MET and following[:1].isupper()
    return "Doktor" if met and following not in _WHENCE else "dari"


def _negated(match: re.Match[str]) -> str | None:
    word = match["word"]
    base = SHORT_FORMS.get(word) or (word if word in MALAY_WORDS or word in _NEGATABLE else None)
    full = _NEGATIONS.get(word) or (f"tak {base}" if base else None)
    return None if full is None else capitalised_like(match["x"], full)


def _letter(match: re.Match[str]) -> str | None:
    letter = match.group()
    if word_before(match).lower() in _LABELS:
        return None
    if letter in "xX":
        return capitalised_like(letter, "tak") if letter == "x" or match["next"] in MALAY_WORDS else None
    return _LETTERS[letter] if word_before(match) or _after_figure(match) else None
