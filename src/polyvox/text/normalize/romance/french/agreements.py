"""Short adjectives of French, and how they agree: "vac. scol.", "temp. moy."."""

from typing import Final

from polyvox.text.normalize.romance.agreement.genders import is_french_feminine
from polyvox.text.normalize.romance.agreement.participles import Agreements, adjectives
from polyvox.text.normalize.romance.agreement.plurals import Plurals
from polyvox.text.normalize.romance.french.abbreviations import ABBREVIATIONS
from polyvox.text.normalize.romance.french.units import SPECIAL_UNITS
from polyvox.text.normalize.romance.french.words import FUNCTION_WORDS, OTHER_UNITS, PLAIN_UNITS, PREFIXES
from polyvox.text.normalize.romance.measures.units import units

_FEMININE: Final = (
    ("eux", "euse"), ("eur", "euse"), ("if", "ive"), ("el", "elle"), ("en", "enne"), ("er", "ère"), ("et", "ète"),
    ("nc", "nche"), ("ul", "ulle"), ("bon", "bonne"),
)  # fmt: skip
_INVARIABLE: Final = frozenset("temps prix frais cas corps bois mois avis accès dos bus pays poids choix".split())


def _forms(word: str) -> tuple[str, str, str, str]:
    """Masculine and feminine of one, then of many."""
    if word[-1] == "e":
        return word, word, f"{word}s", f"{word}s"
    feminine = next(
        (word.removesuffix(end) + other for end, other in _FEMININE if word.endswith(end)),
        "nouvelle" if word == "nouveau" else f"{word}e",
    )
    many = word.removesuffix("al") + "aux" if word.endswith("al") else word if word[-1] in "sx" else f"{word}s"
    return word, feminine, "nouveaux" if word == "nouveau" else many, f"{feminine}s"


def _form(noun: str) -> int:
    plural = noun[-1] in "sx" and noun not in _INVARIABLE
    return 2 * plural + is_french_feminine(noun)


def _plural(noun: str) -> str:
    if noun[-1] in "sxz":
        return noun
    if noun.endswith("al"):
        return f"{noun[:-2]}aux"
    return noun + ("x" if noun.endswith("eau") else "s")


_UNCOUNTED: Final = (
    "janv fév févr mars avr juil juill août sept oct nov déc lun mar mer jeu ven sam dim max min circ incl env ht "
    "ttc app tot ref art st corr sup inf dép arr tél loc coef ch"
)
_LEADING: Final = [form.rstrip(".") for form in (*ABBREVIATIONS.leading, *ABBREVIATIONS.before_names)]
PLURALS: Final = Plurals.of(
    {**ABBREVIATIONS.leading, **ABBREVIATIONS.anywhere},
    "les des ces ses mes tes nos vos aux leurs plusieurs quelques certains certaines",
    frozenset((*units(PREFIXES, PLAIN_UNITS, SPECIAL_UNITS | OTHER_UNITS), *_UNCOUNTED.split(), *_LEADING)),
    _plural,
)
AGREEMENTS: Final = Agreements.of(
    adjectives(
        """
        incl=inclus excl=exclu compr=compris proch=prochain dern=dernier préc,précéd=précédent suiv=suivant
        moy=moyen scol=scolaire mens=mensuel hebdo,hebd=hebdomadaire journ=journalier annuel=annuel
        obl,oblig=obligatoire facult=facultatif suppl,supplém=supplémentaire compl,complém=complémentaire
        princ,princip=principal gén,génér=général nat,nation=national rég,région=régional mun,munic=municipal
        ress=ressenti équip,éq=équipé meubl=meublé rénov=rénové aménag,amén=aménagé indép=indépendant
        indiv=individuel élec,élect,électr=électrique perso=personnel profess=professionnel fr,franç=français
        angl=anglais esp,espag=espagnol ital=italien eur,europ=européen amér,améric=américain civ=civil pén=pénal
        admin,adm,administr=administratif jud,judic=judiciaire soc=social méd,médic=médical chir,chirurg=chirurgical
        techn=technique élém=élémentaire matern=maternel coll,collect=collectif orig=original imméd=immédiat
        def,défin=définitif prov,provis=provisoire parl,parlem=parlementaire lég,législ=législatif synd=syndical
        pol,polit=politique scient,scientif=scientifique cult,cultur=culturel histor=historique
        écon,économ=économique financ=financier commerc=commercial industr,indust=industriel agr=agricole
        pharm=pharmaceutique orth=orthopédique card=cardiaque pulm=pulmonaire rén=rénal hép=hépatique
        résid,résident=résidentiel foncier=foncier prévis=prévisionnel urg=urgent sér=sérieux just=justifié
        liq=liquide auto,autom=automatique nég=négatif posit=positif norm=normal except,exceptionn=exceptionnel
        perm=permanent
        """,
        _forms,
    ),
    "proch dern préc nouv anc princ",
    {
        **{
            form: words
            for form, words in ABBREVIATIONS.anywhere.items()
            if " " in form or (" " not in words and form[-1] == ".")
        },
        **{
            form: words
            for form, words in ABBREVIATIONS.leading.items()
            if " " in form or (" " not in words and form[-1] == ".")
        },
        "tva": "taxe",
        "feu": "feu",
        "art.": "article",
    },
    FUNCTION_WORDS
    | frozenset(
        "ma ta sa mon ton son cette cet ces notre votre quel quelle tous toutes même ça va vu eu point".split()
    ),
    _form,
)
