"""The words of Italian behind its rules: units, acronyms, labels."""

from typing import Final

from polyvox.text.normalize.romance.language import AcronymHabits, Labels, Noun

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
    "Ah": Noun("amperora", "amperora"),
    "U": Noun("unità", "unità", feminine=True),
    "gg": Noun("giorno", "giorni"),
    "mUI": Noun("milliunità internazionale", "milliunità internazionali", feminine=True),
    "part": Noun("partita", "partite", feminine=True),
    "dom": Noun("domanda", "domande", feminine=True),
    "ep": Noun("episodio", "episodi"),
    "caps": Noun("capsula", "capsule", feminine=True),
    "mon": Noun("monitor", "monitor"),
    "bg": Noun("bagno", "bagni"),
    "aliq": Noun("aliquota", "aliquote", feminine=True),
    "Smc": Noun("standard metro cubo", "standard metri cubi"),
    "cam": Noun("camera", "camere", feminine=True),
    "risp": Noun("risposta", "risposte", feminine=True),
    "pizz": Noun("pizzico", "pizzichi"),
    "cip": Noun("cipolla", "cipolle", feminine=True),
    "spicc": Noun("spicchio", "spicchi"),
    "fett": Noun("fetta", "fette", feminine=True),
    "mis": Noun("misurino", "misurini"),
    "mens": Noun("mensilità", "mensilità", feminine=True),
    "ass": Noun("assenza", "assenze", feminine=True),
    "insuff": Noun("insufficienza", "insufficienze", feminine=True),
    "fer": Noun("ferito", "feriti"),
    "cand": Noun("candidato", "candidati"),
    "iscr": Noun("iscritto", "iscritti"),
    "partec": Noun("partecipante", "partecipanti"),
    "stud": Noun("studente", "studenti"),
    "bam": Noun("bambino", "bambini"),
    "somm": Noun("somministrazione", "somministrazioni", feminine=True),
    "inal": Noun("inalazione", "inalazioni", feminine=True),
    "appl": Noun("applicazione", "applicazioni", feminine=True),
    "supp": Noun("supposta", "supposte", feminine=True),
    "tav": Noun("tavoletta", "tavolette", feminine=True),
    "vas": Noun("vasetto", "vasetti"),
    "lat": Noun("lattina", "lattine", feminine=True),
    "dip": Noun("dipendente", "dipendenti"),
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
    "mol": Noun("mole", "moli", feminine=True),
    "µmol": Noun("micromole", "micromoli", feminine=True),
    "bar": Noun("bar", "bar"),
    "mbar": Noun("millibar", "millibar"),
    "atm": Noun("atmosfera", "atmosfere", feminine=True),
    "eV": Noun("elettronvolt", "elettronvolt"),
    "keV": Noun("chiloelettronvolt", "chiloelettronvolt"),
    "MeV": Noun("megaelettronvolt", "megaelettronvolt"),
    "lm": Noun("lumen", "lumen"),
    "mSv": Noun("millisievert", "millisievert"),
    "lb": Noun("libbra", "libbre", feminine=True),
    "oz": Noun("oncia", "once", feminine=True),
    "pb": Noun("punto base", "punti base"),
    "pt": Noun("punto", "punti"),
    "pti": Noun("punto", "punti"),
    "ab": Noun("abitante", "abitanti"),
    "J/g": Noun("joule al grammo", "joule al grammo"),
    "J/kg": Noun("joule al chilo", "joule al chilo"),
    "N/m": Noun("newton al metro", "newton al metro"),
    "ppm": Noun("parte per milione", "parti per milione", feminine=True),
    "cp": Noun("compressa", "compresse", feminine=True),
    "giri/min": Noun("giro al minuto", "giri al minuto"),
    "pz": Noun("pezzo", "pezzi"),
    "rpm": Noun("giro al minuto", "giri al minuto"),
    "cucch": Noun("cucchiaio", "cucchiai"),
    "cucc": Noun("cucchiaio", "cucchiai"),
    "cucch.no": Noun("cucchiaino", "cucchiaini"),
    "gtt": Noun("goccia", "gocce", feminine=True),
    "bust": Noun("bustina", "bustine", feminine=True),
    "cps": Noun("capsula", "capsule", feminine=True),
    "fl": Noun("fiala", "fiale", feminine=True),
    "conf": Noun("confezione", "confezioni", feminine=True),
    "bott": Noun("bottiglia", "bottiglie", feminine=True),
    "ql": Noun("quintale", "quintali"),
    "lt": Noun("litro", "litri"),
    "mt": Noun("metro", "metri"),
    "sett": Noun("settimana", "settimane", feminine=True),
    "loc": Noun("locale", "locali"),
    "pers": Noun("persona", "persone", feminine=True),
    "spett": Noun("spettatore", "spettatori"),
    "pag": Noun("pagina", "pagine", feminine=True),
    "pagg": Noun("pagina", "pagine", feminine=True),
    "kbit/s": Noun("kilobit al secondo", "kilobit al secondo"),
    "Mbit/s": Noun("megabit al secondo", "megabit al secondo"),
    "Gbit/s": Noun("gigabit al secondo", "gigabit al secondo"),
    "Mb/s": Noun("megabit al secondo", "megabit al secondo"),
    "Nm": Noun("newton metro", "newton metro"),
    "ft": Noun("piede", "piedi"),
    "mi": Noun("miglio", "miglia"),
    "kn": Noun("nodo", "nodi"),
    "kVA": Noun("chilovoltampere", "chilovoltampere"),
    "kWp": Noun("chilowatt di picco", "chilowatt di picco"),
    "UA": Noun("unità astronomica", "unità astronomiche", feminine=True),
    "lx": Noun("lux", "lux"),
    "mph": Noun("miglio orario", "miglia orarie"),
    "kgf": Noun("chilogrammo forza", "chilogrammi forza"),
    "mEq": Noun("milliequivalente", "milliequivalenti"),
    "dpi": Noun("punto per pollice", "punti per pollice"),
    "ppb": Noun("parte per miliardo", "parti per miliardo", feminine=True),
    "msg": Noun("messaggio", "messaggi"),
    "rimb": Noun("rimbalzo", "rimbalzi"),
    "bicch": Noun("bicchiere", "bicchieri"),
    "colaz": Noun("colazione", "colazioni", feminine=True),
}
ACRONYMS: Final = AcronymHabits(
    shortest_said=3,
    said=frozenset("REST HOST POST PATCH INPS ASL OCSE CISL CERN AIDS OK AGCOM ABI ANPAL TAV".split()),
    spelled=frozenset("SOS DVD CEO BYD ALT VES TIM CET CEST OOM".split()),
    short_words=frozenset(
        (
            "LA LE LO IL UN DI DA IN SU SE SI NO MA ED AL IO TU HO HA MI TI CI VI NE SÌ PO OK NON PER CON CHE CHI GLI "
            "DEL UNA DUE TRE PIÙ WHERE LIMIT ORDER GROUP JOIN"
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
            "taglia comma costituzionale cassazione unite interno scala uscita letto box"
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
