"""The words of Italian behind its rules: units, abbreviations, acronyms, labels."""

import re
from typing import Final

from polyvox.text.normalize.romance.language import Abbreviations, AcronymHabits, Labels, Noun

PREFIXES: Final = {
    "k": "chilo",
    "c": "centi",
    "m": "milli",
    "d": "deci",
    "n": "nano",
    "µ": "micro",
    "h": "etto",
    "M": "mega",
    "G": "giga",
    "T": "tera",
}
PLAIN_UNITS: Final = {
    "m": Noun("metro", "metri"),
    "g": Noun("grammo", "grammi"),
    "l": Noun("litro", "litri"),
    "L": Noun("litro", "litri"),
    "W": Noun("watt", "watt"),
    "Wh": Noun("wattora", "wattora"),
    "V": Noun("volt", "volt"),
    "A": Noun("ampere", "ampere"),
    "Ah": Noun("amperora", "amperora"),
    "Hz": Noun("hertz", "hertz"),
    "B": Noun("byte", "byte"),
    "Pa": Noun("pascal", "pascal"),
    "J": Noun("joule", "joule"),
    "cal": Noun("caloria", "calorie", feminine=True),
    "s": Noun("secondo", "secondi"),
    "bps": Noun("bit al secondo", "bit al secondo"),
    "b/s": Noun("bit al secondo", "bit al secondo"),
    "B/s": Noun("byte al secondo", "byte al secondo"),
    "b": Noun("bit", "bit"),
    "N": Noun("newton", "newton"),
    "Ω": Noun("ohm", "ohm"),
}
OTHER_UNITS: Final = {
    "cpr": Noun("compressa", "compresse", feminine=True),
    "″": Noun("pollice", "pollici"),
    "km/h": Noun("chilometro orario", "chilometri orari"),
    "kmh": Noun("chilometro orario", "chilometri orari"),
    "gr": Noun("grammo", "grammi"),
    "kg": Noun("chilo", "chili"),
    "Kg": Noun("chilo", "chili"),
    "Km": Noun("chilometro", "chilometri"),
    "hg": Noun("etto", "etti"),
    "t": Noun("tonnellata", "tonnellate", feminine=True),
    "q": Noun("quintale", "quintali"),
    "ha": Noun("ettaro", "ettari"),
    "mq": Noun("metro quadro", "metri quadri"),
    "mc": Noun("metro cubo", "metri cubi"),
    "kmq": Noun("chilometro quadrato", "chilometri quadrati"),
    "sec": Noun("secondo", "secondi"),
    "min": Noun("minuto", "minuti"),
    "h": Noun("ora", "ore", feminine=True),
    "kHz": Noun("chilohertz", "chilohertz"),
    "dB": Noun("decibel", "decibel"),
    "px": Noun("pixel", "pixel"),
    "KB": Noun("kilobyte", "kilobyte"),
    "kB": Noun("kilobyte", "kilobyte"),
    "mcg": Noun("microgrammo", "microgrammi"),
    "mmHg": Noun("millimetro di mercurio", "millimetri di mercurio"),
    "bpm": Noun("battito al minuto", "battiti al minuto"),
    "UI": Noun("unità internazionale", "unità internazionali", feminine=True),
    "mmol": Noun("millimole", "millimoli", feminine=True),
    "CV": Noun("cavallo", "cavalli"),
    "cv": Noun("cavallo", "cavalli"),
    "cc": Noun("centimetro cubo", "centimetri cubi"),
    "fps": Noun("fotogramma al secondo", "fotogrammi al secondo"),
}
ABBREVIATIONS: Final = Abbreviations(
    anywhere={
        "s.l.m.": "sul livello del mare",
        "ecc.": "eccetera",
        "etc.": "eccetera",
        "p.es.": "per esempio",
        "p. es.": "per esempio",
        "a.C.": "avanti Cristo",
        "a. C.": "avanti Cristo",
        "d.C.": "dopo Cristo",
        "d. C.": "dopo Cristo",
        "ca.": "circa",
        "max.": "massimo",
        "cmq": "comunque",
        "nn": "non",
        "xché": "perché",
        "xke": "perché",
        "xkè": "perché",
        "tvb": "ti voglio bene",
        "qlc": "qualcosa",
        "S.p.A.": "società per azioni",
        "SpA": "società per azioni",
        "S.r.l.": "S R L",
        "Srl": "S R L",
        "U.S.A.": "USA",
        "u.s.": "ultimo scorso",
        "c.a.": "corrente anno",
        "gg.": "giorni",
        "gg": "giorni",
        "s.n.c.": "senza numero civico",
    },
    leading={
        "P. IVA": "partita IVA",
        "P.IVA": "partita IVA",
        "C.F.": "codice fiscale",
        "cod.": "codice",
        "D.Lgs.": "decreto legislativo",
        "D. Lgs.": "decreto legislativo",
        "D.L.": "decreto legge",
        "D.M.": "decreto ministeriale",
        "sig.ra": "signora",
        "sig.na": "signorina",
        "sigg.": "signori",
        "dott.ssa": "dottoressa",
        "dr.ssa": "dottoressa",
        "prof.ssa": "professoressa",
        "ad es.": "ad esempio",
        "per es.": "per esempio",
        "nº": "numero",
        "n°": "numero",
        "pagg.": "pagine",
        "tel.": "telefono",
        "cell.": "cellulare",
        "v.le": "viale",
        "V.le": "viale",
        "p.zza": "piazza",
        "P.zza": "piazza",
        "p.za": "piazza",
        "c.so": "corso",
        "C.so": "corso",
        "l.go": "largo",
        "on.": "onorevole",
        "vs": "contro",
        "vs.": "contro",
        "rif.": "riferimento",
        "cfr.": "confronta",
        "int.": "interno",
        "All.": "allegato",
        "c/o": "presso",
    },
    before_figures={
        "pag.": "pagina",
        "pp.": "pagine",
        "p.": "pagina",
        "cap.": "capitolo",
        "capp.": "capitoli",
        "art.": "articolo",
        "artt.": "articoli",
        "vol.": "volume",
        "voll.": "volumi",
        "fig.": "figura",
        "figg.": "figure",
        "n.": "numero",
        "N.": "numero",
        "nn.": "numeri",
        "sec.": "secolo",
        "secc.": "secoli",
        "c.": "comma",
        "co.": "comma",
        "lett.": "lettera",
        "all.": "allegato",
        "par.": "paragrafo",
        "tab.": "tabella",
        "es.": "esercizio",
        "sez.": "sezione",
        "ed.": "edizione",
        "sc.": "scala",
        "p.no": "piano",
    },
    before_names={
        "sig.": "signor",
        "Sig.": "signor",
        "dott.": "dottor",
        "Dott.": "dottor",
        "dr.": "dottor",
        "Dr.": "dottor",
        "prof.": "professor",
        "Prof.": "professor",
        "avv.": "avvocato",
        "Avv.": "avvocato",
        "ing.": "ingegner",
        "Ing.": "ingegner",
        "arch.": "architetto",
        "Arch.": "architetto",
        "geom.": "geometra",
        "Geom.": "geometra",
        "rag.": "ragionier",
        "Rag.": "ragionier",
        "gen.": "generale",
        "Gen.": "generale",
        "on.": "onorevole",
        "On.": "onorevole",
        "mons.": "monsignor",
        "Mons.": "monsignor",
        "S.": "San",
        "V.": "via",
        "fam.": "famiglia",
        "Fam.": "famiglia",
        "egr.": "egregio",
        "Egr.": "egregio",
        "gent.ma": "gentilissima",
        "Gent.ma": "gentilissima",
        "spett.le": "spettabile",
        "Spett.le": "spettabile",
    },
    weekdays={
        "lun.": "lunedì",
        "mar.": "martedì",
        "mer.": "mercoledì",
        "gio.": "giovedì",
        "ven.": "venerdì",
        "sab.": "sabato",
        "dom.": "domenica",
    },
    in_context=(
        (re.compile(r"(?<!\w)n\.(?= è )"), "numero"),
        (re.compile(r"(?<!\w)lett\.(?= [a-z]\b)"), "lettera"),
        (re.compile(r"(?<=via )(?:IV|EV)(?!\w)"), "endovenosa"),
        (re.compile(r"(?<=[IVX] )sec\.(?!\w)"), "secolo"),
        (re.compile(r"(?<!\w)e/o(?!\w)"), "e o"),
        (re.compile(r"(?<!\w)[Ee]s\.(?=:| )"), "esempio"),
        (re.compile(r"(?<!\w)h(?= ?(?:[01]?\d|2[0-4])[:.][0-5]\d)"), "ore"),
    ),
)
ACRONYMS: Final = AcronymHabits(
    shortest_said=3,
    said=frozenset("INPS ASL OCSE CISL CERN AIDS OK AGCOM ABI ANPAL".split()),
    spelled=frozenset("SOS DVD".split()),
    short_words=frozenset(
        (
            "LA LE LO IL UN DI DA IN SU SE SI NO MA ED AL IO TU HO HA MI TI CI VI NE SÌ PO OK NON PER CON CHE CHI GLI "
            "DEL UNA DUE TRE PIÙ"
        ).split()
    ),
)
LABELS: Final = Labels(
    numbers=frozenset(
        (
            "numero numeri linea piano porta camera stanza sala aula binario chilometro articolo articoli capitolo "
            "pagina pagine versione tipo livello gruppo fase giorno canale via autobus bus treno opzione passo figura "
            "tabella domanda esercizio tema unità lezione episodio stagione tomo volume tavolo posto fila terminal "
            "zona blocco edificio lotto formula anno distretto sezione parte allegato legge decreto fattura errore "
            "taglia comma interno scala uscita letto box"
        ).split()
    ),
    codes=frozenset(
        (
            "codice codici pin otp cvv cvc password token iban isbn imei targa interno volo voli passaporto puk id cap "
            "pnr fiscale"
        ).split()
    ),
    files=frozenset(
        (
            "ordine prenotazione riferimento rif fattura ticket pratica polizza conto spedizione contratto riunione "
            "carta serie lotto cliente segnalazione richiesta matricola protocollo pacco"
        ).split()
    ),
    phones=frozenset(
        (
            "telefono tel cellulare cell fax whatsapp chiama chiamami chiamate chiamare chiami contatto verde componi "
            "componga"
        ).split()
    ),
)
FUNCTION_WORDS: Final = frozenset(
    (
        "qui lì là a ad al alla allo ai agli alle all con contro da dal dalla dai dagli dalle dall davanti dentro "
        "dietro di del dello della dei degli delle dell dopo durante entro fino fra in nel nello nella nei negli nelle "
        "nell per presso senza sopra sotto su sul sullo sulla sui sugli sulle sull tra verso e ed o oppure ma però che "
        "se come quando dove perché anche né la lo il i gli le l un una uno è sono era erano fu sarà ha hanno aveva c "
        "ci si mi ti più meno molto tanto quasi solo nord sud est ovest ogni oggi ieri domani poi prima ancora già "
        "sempre parte arriva chiude apre scade funziona va viene può resta costa circa mattina sera non uguale fa"
    ).split()
)
