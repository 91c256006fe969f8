"""The words of French behind its rules: units, acronyms, labels."""

from typing import Final

from polyvox.text.normalize.romance.language import AcronymHabits, Labels, Noun

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
    "mUI": Noun("milliunité internationale", "milliunités internationales", feminine=True),
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
    "ép": Noun("épisode", "épisodes"),
    "épr": Noun("épreuve", "épreuves", feminine=True),
    "Ah": Noun("ampère-heure", "ampères-heures"),
    "U": Noun("unité", "unités", feminine=True),
    "pl": Noun("place", "places", feminine=True),
    "art": Noun("article", "articles"),
    "enf": Noun("enfant", "enfants"),
    "ad": Noun("adulte", "adultes"),
    "appl": Noun("application", "applications", feminine=True),
    "batt": Noun("batterie", "batteries", feminine=True),
    "abst": Noun("abstention", "abstentions", feminine=True),
    "sem": Noun("semaine", "semaines", feminine=True),
    "abs": Noun("absence", "absences", feminine=True),
    "bouff": Noun("bouffée", "bouffées", feminine=True),
    "pinc": Noun("pincée", "pincées", feminine=True),
    "oign": Noun("oignon", "oignons"),
    "inj": Noun("injection", "injections", feminine=True),
    "gouss": Noun("gousse", "gousses", feminine=True),
    "tr": Noun("tranche", "tranches", feminine=True),
    "br": Noun("brin", "brins"),
    "feuil": Noun("feuille", "feuilles", feminine=True),
    "mens": Noun("mensualité", "mensualités", feminine=True),
    "éch": Noun("échéance", "échéances", feminine=True),
    "étud": Noun("étudiant", "étudiants"),
    "cand": Noun("candidat", "candidats"),
    "bl": Noun("blessé", "blessés"),
    "vict": Noun("victime", "victimes", feminine=True),
    "véh": Noun("véhicule", "véhicules"),
    "jrs": Noun("jour", "jours"),
    "jr": Noun("jour", "jours"),
    "ptes": Noun("porte", "portes", feminine=True),
    "empl": Noun("emplacement", "emplacements"),
    "doss": Noun("dossier", "dossiers"),
    "sal": Noun("salarié", "salariés"),
    "adh": Noun("adhérent", "adhérents"),
    "réf": Noun("référence", "références", feminine=True),
    "exempl": Noun("exemplaire", "exemplaires"),
    "cpr": Noun("comprimé", "comprimés"),
    "gel": Noun("gélule", "gélules", feminine=True),
    "supp": Noun("suppositoire", "suppositoires"),
    "bts": Noun("boîte", "boîtes", feminine=True),
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
    "mol": Noun("mole", "moles", feminine=True),
    "µmol": Noun("micromole", "micromoles", feminine=True),
    "bar": Noun("bar", "bars"),
    "mbar": Noun("millibar", "millibars"),
    "atm": Noun("atmosphère", "atmosphères", feminine=True),
    "eV": Noun("électronvolt", "électronvolts"),
    "keV": Noun("kiloélectronvolt", "kiloélectronvolts"),
    "MeV": Noun("mégaélectronvolt", "mégaélectronvolts"),
    "lm": Noun("lumen", "lumens"),
    "mSv": Noun("millisievert", "millisieverts"),
    "lb": Noun("livre", "livres", feminine=True),
    "oz": Noun("once", "onces", feminine=True),
    "pt": Noun("point", "points"),
    "pts": Noun("point", "points"),
    "J/g": Noun("joule par gramme", "joules par gramme"),
    "J/kg": Noun("joule par kilo", "joules par kilo"),
    "N/m": Noun("newton par mètre", "newtons par mètre"),
    "ppm": Noun("partie par million", "parties par million", feminine=True),
    "tpm": Noun("tour par minute", "tours par minute"),
    "gr": Noun("gramme", "grammes"),
    "grs": Noun("gramme", "grammes"),
    "mins": Noun("minute", "minutes", feminine=True),
    "hrs": Noun("heure", "heures", feminine=True),
    "bout": Noun("bouteille", "bouteilles", feminine=True),
    "bte": Noun("boîte", "boîtes", feminine=True),
    "sach": Noun("sachet", "sachets"),
    "pce": Noun("pièce", "pièces", feminine=True),
    "pcs": Noun("pièce", "pièces", feminine=True),
    "pièc": Noun("pièce", "pièces", feminine=True),
    "cps": Noun("comprimé", "comprimés"),
    "gél": Noun("gélule", "gélules", feminine=True),
    "amp": Noun("ampoule", "ampoules", feminine=True),
    "gtt": Noun("goutte", "gouttes", feminine=True),
    "càs": Noun("cuillère à soupe", "cuillères à soupe", feminine=True),
    "cas": Noun("cuillère à soupe", "cuillères à soupe", feminine=True),
    "càc": Noun("cuillère à café", "cuillères à café", feminine=True),
    "cac": Noun("cuillère à café", "cuillères à café", feminine=True),
    "CàS": Noun("cuillère à soupe", "cuillères à soupe", feminine=True),
    "CàC": Noun("cuillère à café", "cuillères à café", feminine=True),
    "spect": Noun("spectateur", "spectateurs"),
    "kbit/s": Noun("kilobit par seconde", "kilobits par seconde"),
    "Mbit/s": Noun("mégabit par seconde", "mégabits par seconde"),
    "Gbit/s": Noun("gigabit par seconde", "gigabits par seconde"),
    "Mb/s": Noun("mégabit par seconde", "mégabits par seconde"),
    "Nm": Noun("newton mètre", "newtons mètres"),
    "pi": Noun("pied", "pieds"),
    "po": Noun("pouce", "pouces"),
    "mi": Noun("mille", "milles"),
    "ft": Noun("pied", "pieds"),
    "vg": Noun("verge", "verges", feminine=True),
    "nd": Noun("nœud", "nœuds"),
    "kn": Noun("nœud", "nœuds"),
    "kVA": Noun("kilovoltampère", "kilovoltampères"),
    "kWc": Noun("kilowatt-crête", "kilowatts-crêtes"),
    "UA": Noun("unité astronomique", "unités astronomiques", feminine=True),
    "lx": Noun("lux", "lux"),
    "mph": Noun("mille à l'heure", "milles à l'heure"),
    "tr/mn": Noun("tour par minute", "tours par minute"),
    "rpm": Noun("tour par minute", "tours par minute"),
    "Ma": Noun("million d'années", "millions d'années"),
    "teq": Noun("tonne équivalent", "tonnes équivalent", feminine=True),
    "pg": Noun("page", "pages", feminine=True),
    "kmh": Noun("kilomètre heure", "kilomètres heure"),
    "ppb": Noun("partie par milliard", "parties par milliard", feminine=True),
    "mEq": Noun("milliéquivalent", "milliéquivalents"),
    "dpi": Noun("point par pouce", "points par pouce"),
    "msg": Noun("message", "messages"),
    "msgs": Noun("messages", "messages"),
    "rbd": Noun("rebond", "rebonds"),
    "rbds": Noun("rebond", "rebonds"),
    "reb": Noun("rebond", "rebonds"),
}
ACRONYMS: Final = AcronymHabits(
    shortest_said=4,
    said=frozenset(
        (
            "REST HOST "
            "CAC RIB DOM TOM FED SAS BEP DUT SIG PUMA ONU ENA CAF INA ISO PIN SIM RAM ROM LED BAC PAF ETA ZAC ZEP LOL "
            "GIF SMIC SMUR FNAC CNIL PACS CERN OVNI EHPAD SPIP UNE VIP TIP WIFI OK SIDA BIC ZOO POST PATCH"
        ).split()
    ),
    spelled=frozenset(("ASSE", "AOMI", "CEST", "LEP")),
    short_words=frozenset(
        (
            "LE LA LES UN UNE DE DU DES ET EN AU AUX IL ILS ELLE ON JE TU ME TE NE NI OU OÙ SI CE ÇA PAS NON OUI "
            "EST SUR PAR QUI QUE SON SES MES TES NOS VOS LUI MOI TOI MON TON ÉTÉ EAU MAI MER AIR BAS BON CAS CAR CES "
            "DIT DIX FIN JEU LOI MAL MOT NOM NUL SEL SIX SOL TÔT VIE VIN TOP VU OK AH OH DEUX TROP TRÈS PLUS SANS ÊTRE "
            "ROI WHERE LIMIT ORDER GROUP JOIN"
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
