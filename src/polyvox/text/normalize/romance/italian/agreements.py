"""Short adjectives of Italian, and how they agree: "accise incl.", "pross. area", "velocità max"."""

from typing import Final

from polyvox.text.normalize.romance.agreement.genders import is_italian_feminine
from polyvox.text.normalize.romance.agreement.participles import Agreements, adjectives
from polyvox.text.normalize.romance.agreement.plurals import Plurals
from polyvox.text.normalize.romance.italian.abbreviations import ABBREVIATIONS
from polyvox.text.normalize.romance.italian.units import SPECIAL_UNITS
from polyvox.text.normalize.romance.italian.words import FUNCTION_WORDS, OTHER_UNITS, PLAIN_UNITS, PREFIXES
from polyvox.text.normalize.romance.measures.units import units

# Endings of nouns of one in "e"; others in "e" are the plurals of those in "a".
_OF_ONE: Final = (
    "ore", "ale", "ile", "nte", "one", "ere", "ese", "ame", "ume", "ice", "ede", "are", "ole", "ete", "ine", "ome",
    "ace",
)  # fmt: skip
_UNCOUNTED: Final = (
    "gen feb mar apr mag giu lug ago set sett ott nov dic lun mart mer merc gio giov ven sab dom max min circ ca "
    "tot int fatt lett art est sup inf dir tel loc part arr cond es matr scad"
)
_PLURALS: Final = frozenset(
    "pagine macchine cabine vitamine piscine turbine bambine cugine medicine stampe rate spese imprese difese attese "
    "riprese sorprese discese scale sale ore tele mele "
    "stelle sorelle regole scuole tavole parole favole celle cose rose case".split()
)
_INVARIABLE: Final = frozenset("bici crisi analisi tesi oasi metropoli ipotesi diagnosi prognosi eclissi".split())
_FEMININE_MANY: Final = 3
_SINGULARS: Final = frozenset("nome pane sangue piede pesce latte regime paese mese re cane".split())


def _forms(word: str) -> tuple[str, str, str, str]:
    """Masculine and feminine of one, then of many."""
    if word[-1] == "e":
        return word, word, f"{word[:-1]}i", f"{word[:-1]}i"
    hard = word[-2] in "cg" and not word.endswith(("ico", "aco"))
    many = f"{word[:-1]}{'h' if hard else ''}i"
    return word, f"{word[:-1]}a", many, f"{word[:-1]}{'h' if word[-2] in 'cg' else ''}e"


def _form(noun: str) -> int:
    if noun in _INVARIABLE:
        return 1
    if noun[-1] == "i":
        one = noun[:-1]
        return 2 + (noun.endswith(("zioni", "sioni", "gioni")) or is_italian_feminine(f"{one}e"))
    if noun[-1] == "e" and not is_italian_feminine(noun):
        return 0 if noun in _SINGULARS or (noun.endswith(_OF_ONE) and noun not in _PLURALS) else 3
    return int(is_italian_feminine(noun))


def _plural(noun: str) -> str:
    if noun[-1] in "àèéìòùi" or noun[-1] not in "aeo" or _form(noun) == _FEMININE_MANY:
        return noun
    hard = "h" if noun[-2] in "cg" and not noun.endswith(("ico", "aco", "logo")) else ""
    if noun[-1] == "o":
        return noun[:-1] if noun[-2] == "i" else f"{noun[:-1]}{hard}i"
    return f"{noun[:-1]}{hard}e" if noun[-1] == "a" else f"{noun[:-1]}i"


_LEADING: Final = [form.rstrip(".") for form in (*ABBREVIATIONS.leading, *ABBREVIATIONS.before_names)]
PLURALS: Final = Plurals.of(
    {**ABBREVIATIONS.leading, **ABBREVIATIONS.anywhere},
    "i gli le dei degli delle ai agli alle nei negli nelle sui sugli sulle dai dagli dalle questi queste alcuni alcune "
    "molti molte diversi diverse vari varie",
    frozenset((*units(PREFIXES, PLAIN_UNITS, SPECIAL_UNITS | OTHER_UNITS), *_UNCOUNTED.split(), *_LEADING)),
    _plural,
)
AGREEMENTS: Final = Agreements.of(
    adjectives(
        """
        incl=incluso escl=escluso compr=compreso pross,prox=prossimo ult=ultimo prec,preced=precedente
        succ,success=successivo neg,negat=negativo posit=positivo rid=ridotto arred=arredato
        ristr,ristrutt=ristrutturato ortop=ortopedico cardiol=cardiologico dermat,dermatol=dermatologico
        ocul,oculist=oculistico ginecol=ginecologico neurol=neurologico urol=urologico pneumol=pneumologico
        chir,chirurg=chirurgico spec,special=specialistico scol=scolastico cond,condom=condominiale mens=mensile
        annu=annuale trimestr=trimestrale settim=settimanale obbl,obblig=obbligatorio facolt=facoltativo
        naz,nazion=nazionale region=regionale provinc=provinciale comun=comunale gratuit=gratuito elettr=elettrico
        autom,automat=automatico idraul=idraulico priv=privato pubbl=pubblico resid=residenziale
        trib,tribut=tributario max,mass=massimo min=minimo med=medio panor=panoramico abit=abitabile
        access=accessorio tempor=temporaneo defin,definit=definitivo provv,provvis=provvisorio straord=straordinario
        ordin=ordinario amm,ammin=amministrativo giudiz=giudiziario legisl=legislativo parlam=parlamentare
        polit=politico econ=economico finanz=finanziario commerc=commerciale industr=industriale tecn=tecnico
        scient=scientifico stor=storico letter=letterario univ,univers=universitario profess=professionale
        legg=leggero mod,moder=moderato deb=debole cop=coperto nuvol=nuvoloso seren=sereno piov=piovoso usat=usato
        nuov=nuovo unic=unico cort=cortese giust,giustif=giustificato ingiust,ingiustif=ingiustificato trit=tritato
        fr=fresco san,sanit=sanitario Ns,ns=nostro Vs=vostro el=elettrico orig,origin=originale dopp=doppio
        sing=singolo tripl=triplo rich,richies=richiesto compl,complet=completo vent,ventil=ventilato stat=statico
        """,
        _forms,
    ),
    "pross prox ult prec succ Ns ns Vs",
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
        "temp.": "temperatura",
        "bag.": "bagaglio",
        "sp.": "spese",
        "ass.": "assenti",
        "ott.": "ottime",
        "FC": "frequenza",
        "PA": "pressione",
        "doc.": "documentazione",
    },
    FUNCTION_WORDS
    | frozenset(
        "die questa questo queste questi nostro vostra suo sua loro ciascuno tutti tutte stesso prende "
        "ore punto diesis bemolle do re mi fa sol si "
        "buone ottime discrete cattive buono".split()
    ),
    _form,
    bare="max min",
)
