"""The words of French behind its rules: units, abbreviations, acronyms, labels."""

import re
from typing import Final

from polyvox.text.normalize.romance.language import Abbreviations, AcronymHabits, Labels, Noun

PREFIXES: Final = {
    "k": "kilo",
    "c": "centi",
    "m": "milli",
    "d": "déci",
    "n": "nano",
    "µ": "micro",
    "h": "hecto",
    "M": "méga",
    "G": "giga",
    "T": "téra",
}
PLAIN_UNITS: Final = {
    "m": Noun("mètre", "mètres"),
    "g": Noun("gramme", "grammes"),
    "l": Noun("litre", "litres"),
    "L": Noun("litre", "litres"),
    "W": Noun("watt", "watts"),
    "Wh": Noun("wattheure", "wattheures"),
    "V": Noun("volt", "volts"),
    "A": Noun("ampère", "ampères"),
    "Ah": Noun("ampère-heure", "ampères-heures"),
    "Hz": Noun("hertz", "hertz"),
    "B": Noun("byte", "bytes"),
    "Pa": Noun("pascal", "pascals"),
    "J": Noun("joule", "joules"),
    "cal": Noun("calorie", "calories", feminine=True),
    "s": Noun("seconde", "secondes", feminine=True),
    "bps": Noun("bit par seconde", "bits par seconde"),
    "b/s": Noun("bit par seconde", "bits par seconde"),
    "B/s": Noun("byte par seconde", "bytes par seconde"),
    "b": Noun("bit", "bits"),
    "N": Noun("newton", "newtons"),
    "Ω": Noun("ohm", "ohms"),
}
OTHER_UNITS: Final = {
    "j": Noun("jour", "jours"),
    "cp": Noun("comprimé", "comprimés"),
    "pers": Noun("personne", "personnes", feminine=True),
    "hab": Noun("habitant", "habitants"),
    "″": Noun("pouce", "pouces"),
    "km/h": Noun("kilomètre heure", "kilomètres heure"),
    "h": Noun("heure", "heures", feminine=True),
    "kg": Noun("kilo", "kilos"),
    "Kg": Noun("kilo", "kilos"),
    "Km": Noun("kilomètre", "kilomètres"),
    "t": Noun("tonne", "tonnes", feminine=True),
    "ha": Noun("hectare", "hectares"),
    "sec": Noun("seconde", "secondes", feminine=True),
    "min": Noun("minute", "minutes", feminine=True),
    "mn": Noun("minute", "minutes", feminine=True),
    "o": Noun("octet", "octets"),
    "ko": Noun("kilo-octet", "kilo-octets"),
    "Ko": Noun("kilo-octet", "kilo-octets"),
    "Mo": Noun("mégaoctet", "mégaoctets"),
    "Go": Noun("gigaoctet", "gigaoctets"),
    "To": Noun("téraoctet", "téraoctets"),
    "mo": Noun("mégaoctet", "mégaoctets"),
    "go": Noun("gigaoctet", "gigaoctets"),
    "Mo/s": Noun("mégaoctet par seconde", "mégaoctets par seconde"),
    "dB": Noun("décibel", "décibels"),
    "px": Noun("pixel", "pixels"),
    "mcg": Noun("microgramme", "microgrammes"),
    "mmHg": Noun("millimètre de mercure", "millimètres de mercure"),
    "bpm": Noun("battement par minute", "battements par minute"),
    "tr/min": Noun("tour par minute", "tours par minute"),
    "UI": Noun("unité internationale", "unités internationales", feminine=True),
    "mmol": Noun("millimole", "millimoles", feminine=True),
    "ch": Noun("cheval", "chevaux"),
    "CV": Noun("cheval", "chevaux"),
    "cv": Noun("cheval", "chevaux"),
    "fps": Noun("image par seconde", "images par seconde", feminine=True),
    "cc": Noun("centimètre cube", "centimètres cubes"),
}
ABBREVIATIONS: Final = Abbreviations(
    anywhere={
        "etc.": "et cetera",
        "p. ex.": "par exemple",
        "p.ex.": "par exemple",
        "c.-à-d.": "c'est-à-dire",
        "càd": "c'est-à-dire",
        "nos": "nos",
        "av. J.-C.": "avant Jésus-Christ",
        "ap. J.-C.": "après Jésus-Christ",
        "J.-C.": "Jésus-Christ",
        "max.": "maximum",
        "svp": "s'il vous plaît",
        "stp": "s'il te plaît",
        "SVP": "s'il vous plaît",
        "rdv": "rendez-vous",
        "RDV": "rendez-vous",
        "bcp": "beaucoup",
        "qqn": "quelqu'un",
        "qqch": "quelque chose",
        "qq": "quelques",
        "rdc": "rez-de-chaussée",
        "RDC": "rez-de-chaussée",
        "tjs": "toujours",
        "pb": "problème",
        "dc": "donc",
        "càd.": "c'est-à-dire",
        "pers.": "personnes",
        "hab.": "habitants",
        "mn.": "minutes",
    },
    leading={
        "n°": "numéro",
        "nº": "numéro",
        "n°s": "numéros",
        "tél.": "téléphone",
        "tel.": "téléphone",
        "bd": "boulevard",
        "bvd": "boulevard",
        "bld": "boulevard",
        "boul.": "boulevard",
        "env.": "environ",
        "Mme": "madame",
        "Mmes": "mesdames",
        "Mlle": "mademoiselle",
        "Mlles": "mesdemoiselles",
        "apt.": "appartement",
        "appt.": "appartement",
        "cf.": "confer",
        "vs": "contre",
        "vs.": "contre",
        "ex.": "exemple",
        "réf.": "référence",
        "St-": "saint-",
        "Ste-": "sainte-",
    },
    before_figures={
        "p.": "page",
        "pp.": "pages",
        "vol.": "volume",
        "chap.": "chapitre",
        "art.": "article",
        "arts.": "articles",
        "fig.": "figure",
        "t.": "tome",
        "éd.": "édition",
        "sect.": "section",
        "al.": "alinéa",
        "ét.": "étage",
        "bât.": "bâtiment",
        "esc.": "escalier",
        "BP": "boîte postale",
        "no": "numéro",
        "no.": "numéro",
        "lib.": "livre",
        "col.": "colonne",
        "par.": "paragraphe",
    },
    before_names={
        "M.": "monsieur",
        "MM.": "messieurs",
        "Dr": "docteur",
        "Dr.": "docteur",
        "Drs": "docteurs",
        "Pr": "professeur",
        "Pr.": "professeur",
        "Me": "maître",
        "Mgr": "monseigneur",
        "St": "saint",
        "Ste": "sainte",
        "av.": "avenue",
        "Av.": "avenue",
        "pl.": "place",
        "Pl.": "place",
        "bd.": "boulevard",
        "Bd.": "boulevard",
        "rte": "route",
        "chem.": "chemin",
        "imp.": "impasse",
        "Gal": "général",
        "Sté": "société",
        "Ets": "établissements",
    },
    weekdays={
        "lun.": "lundi",
        "mar.": "mardi",
        "mer.": "mercredi",
        "jeu.": "jeudi",
        "ven.": "vendredi",
        "sam.": "samedi",
        "dim.": "dimanche",
    },
    in_context=(
        (re.compile(r"(?<!\w)c\. ?à ?(?=[sc](?:oupe|afé)?\b)"), "cuillère à "),
        (re.compile(r"(?<=cuillère à )s\.?(?!\w)"), "soupe"),
        (re.compile(r"(?<=cuillère à )c\.?(?!\w)"), "café"),
        (re.compile(r"(?<=d')alt\.(?!\w)"), "altitude"),
        (re.compile(r"(?<=voie )IV(?!\w)"), "intraveineuse"),
        (re.compile(r"(?<=[IVX\d]e )arr\.(?!\w)"), "arrondissement"),
        (re.compile(r"(?<=à )dr\.(?!\w)"), "droite"),
        (re.compile(r"(?<=à )g\.(?!\w)"), "gauche"),
        (re.compile(r"(?<!\w)2nde(?=s?(?!\w))"), "seconde"),
        (re.compile(r"(?<!\w)2nd(?=s?(?!\w))"), "second"),
        (re.compile(r"(?<=[IVX]e )s\.(?!\w)"), "siècle"),
        (re.compile(r"(?<=[IVX]e )s(?= )"), "siècle"),
        (re.compile(r"(?<=\de )ét\.(?!\w)"), "étage"),
        (re.compile(r"(?<=les )art\.(?= \d)"), "articles"),
        (re.compile(r"(?<!\w)et/ou(?!\w)"), "et ou"),
        (re.compile(r"(?<=\d) ?h/24(?!\w)"), " heures sur vingt-quatre"),
        (re.compile(r"(?<=\d) ?j/7(?!\w)"), " jours sur sept"),
    ),
)
ACRONYMS: Final = AcronymHabits(
    shortest_said=4,
    said=frozenset(
        (
            "ONU ENA CAF INA ISO PIN SIM RAM ROM LED BAC PAF ETA ZAC ZEP LOL GIF SMIC SMUR FNAC CNIL PACS CERN OVNI "
            "EHPAD SPIP UNE VIP TIP WIFI OK SIDA BIC ZOO"
        ).split()
    ),
    spelled=frozenset(),
    short_words=frozenset(
        (
            "LE LA LES UN UNE DE DU DES ET EN AU AUX IL ILS ELLE ON JE TU ME TE NE NI OU OÙ SI CE ÇA PAS NON OUI "
            "EST SUR PAR QUI QUE SON SES MES TES NOS VOS LUI MOI TOI MON TON ÉTÉ EAU MAI MER AIR BAS BON CAS CAR CES "
            "DIT DIX FIN JEU LOI MAL MOT NOM NUL SEL SIX SOL TÔT VIE VIN TOP VU OK AH OH DEUX TROP TRÈS PLUS SANS ÊTRE "
            "ROI"
        ).split()
    ),
)
LABELS: Final = Labels(
    numbers=frozenset(
        (
            "numéro numéros ligne étage porte chambre salle voie quai kilomètre article articles chapitre page pages "
            "version type niveau groupe phase jour canal route bus train option étape figure tableau question exercice "
            "thème unité leçon épisode saison tome volume table place siège rang terminal zone bloc bâtiment lot "
            "formule plan an année arrondissement section partie annexe loi décret facture erreur taille rue box lit "
            "acte scène département quatrième"
        ).split()
    ),
    codes=frozenset(
        (
            "code codes pin otp cvv cvc passe jeton siret siren iban isbn imei immatriculation extension vol vols "
            "passeport puk id poste nir"
        ).split()
    ),
    files=frozenset(
        (
            "commande réservation référence réf facture ticket dossier police compte colis contrat réunion carte série "
            "lot client incident demande suivi identifiant"
        ).split()
    ),
    phones=frozenset(
        (
            "téléphone tél tel portable mobile fax whatsapp appelez appelle appeler rappelle rappelez contact "
            "joignable composez contactez"
        ).split()
    ),
)
FUNCTION_WORDS: Final = frozenset(
    (
        "ici là à au aux avec chez contre dans de des du depuis derrière dès devant durant en entre envers hors jusque "
        "malgré par parmi pendant pour sans sauf selon sous sur vers et ou ni mais donc or car que qui quand si comme "
        "la le les l un une est sont était étaient fut sera a ont avait y il elle on ce ne pas se me te lui leur son "
        "sa ses plus moins très aussi tant presque nord sud ouest chaque maintenant hier demain puis ensuite après "
        "avant encore déjà toujours arrive ferme ouvre expire fonctionne va vient peut reste coûte bis ter précises "
        "environ au-dessus au-dessous matin soir"
    ).split()
)
