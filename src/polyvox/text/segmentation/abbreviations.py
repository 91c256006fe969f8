"""Words that a full stop shortens, in all languages at once, because the language of an arriving text is not known."""

import re
from typing import Final

from polyvox.text.normalize.english import scripture
from polyvox.text.normalize.english.abbreviations import ranks, setting_words, short_forms, words
from polyvox.text.normalize.english.abbreviations import rules as english
from polyvox.text.normalize.english.abbreviations.before_figures import BEFORE_FIGURES
from polyvox.text.normalize.english.context import STARTERS
from polyvox.text.normalize.english.places import states
from polyvox.text.normalize.malay.short_forms import abbreviations as malay
from polyvox.text.normalize.romance.french import truncated as french_truncated
from polyvox.text.normalize.romance.italian import truncated as italian_truncated
from polyvox.text.normalize.romance.portuguese import truncated as portuguese_truncated
from polyvox.text.normalize.romance.spanish import truncated as spanish_truncated
from polyvox.text.segmentation.short_words import SHORT_WORDS

_REACH: Final = 32
_LONGEST_PREFIX: Final = 3
"""Capitals before the figures of a number: "VAT no. GB 123"."""
_SIGNS: Final = "\u0900-\u0963"
"""Devanagari, whose vowel signs `re` takes for marks."""
_LAST_WORDS: Final = re.compile(
    rf"(?:(?P<before>[^\W\d_]+) |^|[^\w.{_SIGNS}])(?P<word>[\w{_SIGNS}](?:[\w.{_SIGNS}]*[\w{_SIGNS}])?)$"
)
_WIDE_BEFORE: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+(?=[A-Za-z])")
"""Writing without spaces, which a short word may follow at once: 请Dr. 王来."""
_DOTTED: Final = re.compile(r"(?:[A-Za-z]{1,2}\.)+(?:[A-Za-z]|Sc|Ed|Eng|Phil|Va|Mex|Dak)")
_ROMAN: Final = re.compile(r"[IVXLC]{2,}|[ivxlc]+|[VX]")
_CALENDAR: Final = frozenset("Mon Tue Tues Wed Thu Thur Thurs Fri Jan Feb Apr Jun Jul Aug Sep Sept Oct Nov Dec".split())
_SHORTENED: Final = frozenset((*short_forms.SHORTENED, *short_forms.SMALL)) - short_forms.CHATTED
_OF_SETTINGS: Final = setting_words.SHORT | frozenset(map(str.capitalize, setting_words.SHORT))
_MAY_END: Final = (
    frozenset(words.ANYWHERE)
    | frozenset(words.BEHIND_NAMES)
    | _SHORTENED
    | frozenset(map(str.capitalize, _SHORTENED))
    | frozenset(states.STATES_BY_STOP)
    | frozenset(states.SHIRES)
    | frozenset(ranks.UNITS)
    | {"Mex", "Dak", "Ops"}
    | _CALENDAR
    | {"St"}
)
_INSIDE_BEFORE_SMALL: Final = (
    frozenset(malay.ANYWHERE)
    | (frozenset(words.GOING_ON) - {"ref"})
    | _OF_SETTINGS
    | frozenset(
        "Is evac exp gms ins inv mil Sch Pharm pharm comp alt Stat prof id "
        "UU ej ex ecc aprox ene abr sept oct dic janv févr avr juil déc giu lug ott dez fev pl मी "
        "lun mar mer mié mie jue vie sáb dom ven jeu sam dim gio sab seg ter qua qui sex hab ab pts gtos civ "
        "lt dk hyd Hyd orch Orch mezz Mezz rt tot cert Ofc hm vw vws dir arr illus narr chor rev att "
        "Eng Sci cr gr br conf chop fin ent sec pos excl Excl "
        "adic qté max feat Feat ed Ed eds pt Pub pub med bus disc r cx oz fl cap tab सोम मंगल बुध गुरु शुक्र शनि रवि".split()
    )
)
_NEVER_ENDS: Final = (
    frozenset(words.TITLES)
    | frozenset(words.WITHIN)
    | frozenset(malay.TITLES)
    | frozenset(malay.PLACES)
    | frozenset(malay.WITHIN)
    | frozenset(
        "Dem Pte Repub "
        "trans Trans tr Dr dr mr mrs v Ruj Cth Sra Srta Dra Sig dott Dott Avv avv Ing MM "
        "Def Defs Profa Dpto dpto Depto depto Mesy Hub "
        "डॉ प्रो कि कर्म ता न्यून अधि सं प्र प्ला चौ ठा अति सहा कार्या मि टे टी छो".split()
    )
) - {"Ting", "Kem", "Kol", "faks"}
# Subjects of a school and parts of a book, which may be the first.
_NUMBERED: Final = frozenset(
    "Alg Anat Bio Biol Calc Chem Econ Geom Hist Orgo Phys Psych Stats Trig Bk Bks Ch Chs Pt Pts "
    "Vol Vols vol vols".split()
)
_BEFORE_FIGURES: Final = (
    frozenset(BEFORE_FIGURES)
    | _NUMBERED
    | frozenset(scripture.SHORT)
    | frozenset(
        "Sched Tit Sat Sun inns "
        "b d r rr l ll mm ss KV RV Bil bil Jld Jil Rs Rp pág págs pag pagg núm Núm tél Tél cap máx mín av n N ene feb "
        "abr ago dic janv févr juil déc giu lug ott dez arts artt tfno tlf séc secc capp voll figg párr apdo "
        "apto chap bât lett rif réf núms vie mié jue sáb lun ven jeu dim gio sab seg ag inc cod cód D.Lgs "
        "bin conj cj disp adic pl P.le Eq Tab रु रू अनु नं पृ सं क्र दि मो जन फ़र फर अप्रै जुला अग सित सितं "
        "अक्टू नव नवं दिस दिसं Seks Ting Lamp H.No".split()
    )
)
# Before a sum, where the sign of a currency follows and no word.
_PRICED: Final = frozenset("mo reg Reg sugg Sugg sh fr ea nt pd".split())
# A word and the one behind it, each with a full stop of its own.
_PAIRS: Final = frozenset(
    (
        "EE UU", "RR HH", "CC AA", "JJ OO", "FF AA", "a m", "p m", "s n", "n m", "n è", "c à", "p ej", "p ex",
        "p es", "a C", "d C", "av J", "ap J", "apr J", "conf Cass", "p b", "C civ", "C conso", "Bs As", "op cit",
        "Op cit", "art cit", "art cité", "ch garde", "ch acq", "p de", "j pour", "rif alla", "cons prev",
        "cl en", "M le", "M et", "n verde", "Es n", "cod civ", "Cod prod", "trad it", "Trad it", "t ind",
        "ten col", "p o", "Cass soc", "Cass civ", "sp cond", "C pén", "C trav", "disp adic", "R da", "R das",
        "R do", "R dos", "R de", "dir financier", "imp des", "ch double", "ch simple",
        "Fed R", "R Civ", "R Crim", "R App", "R Evid", "Civ P", "Crim P", "App P", "Pub L", "L No", "Conf Rm",
        "Conf no", "conf no", "ref no", "Ref no", "Mech Eng", "Chem Eng", "Elec Eng", "Civ Eng", "Comp Sci", "Comp Eng",
        "Poli Sci", "Pol Sci", "Phys Ed", "Bus Admin", "Cal Penal", "Cal Civ", "Cal Code", "Veh Code", "Civ Code",
        "Super Ct", "Sup Ct", "Dist Ct", "Pen Code", "Lab Code", "Fam Code", "D C", "C Cir",
        "N of", "S of", "E of", "W of", "NE of", "NW of", "SE of", "SW of", "fr Mt", "fr St", "fr the",
        "sat fat", "c de", "c sopa", "c chá", "d háb", "d corr",
    )
)  # fmt: skip
# Words that end a number of the Romance languages, behind which a letter is part of a code.
_NUMERALS: Final = frozenset(
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince veinte treinta cuarenta "
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize vingt trente "
    "zero due quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici venti trenta "
    "quarante quaranta um dois três quatro sete oito dez vinte trinta quarenta mil mille cien cent cento cem".split()
)
# Short words of the Romance languages: before a small letter, before a figure, before a name.
# Cut words of French and Italian that are words of English too, which end sentences.
_ALSO_ENGLISH: Final = frozenset(
    "act add arch art bass cat cons cont cult est fin fig form imp import lab mess mil mis normal offer person post "
    "prod sign stat sal test tit unit rap pat pan par pen pop pos per oriental special general prof pros quest rid rig "
    "gin mar sim temp term dip dis doc com dens ill".split()
)
_CUT: Final = (
    frozenset(form[:-1] for form in french_truncated.TRUNCATED | italian_truncated.TRUNCATED if len(form) > 3)
    - _ALSO_ENGLISH
)
# Cut words of Spanish and Portuguese that are English words too.
_ENGLISH_IN_IBERIAN: Final = frozenset(
    (
        "accident acid acred admin agric alarm aliment ant apart assess bilat bomb calendar cancel candid carb card "
        "carp carpet cart castellan cent champ class combust complement component condiment conduct conex confer "
        "confirm consult correspond cult def deport deposit digest digit dimension dividend document econ elect emerg "
        "equip equivalent esport est exact exec extern fabric farm fed ferment fin financier fisc fund fundament gar "
        "gen govern gram habit hemoglobin hist horn ident idiom import impost impress increment independent infant "
        "inform ingress instal intern interrupt interval invent invest jog jug lesion lev levant licit limit limp "
        "liquid manifest marg mater med medic medicament metal minister mob mod neg nocturn orient pant percent perf "
        "period perm person pic pint plan plat port president problem prof program protocol provision public puls "
        "quant reform regimen regiment remit rend represent rest restaurant result secret secund sem sev sever soc "
        "solicit sup talon tard temp temper tens testament torn tot transport unit vain valid vend vest vet victor "
        "vig vigil visit"
    ).split()
)
_IBERIAN: Final = (
    frozenset(
        form[:-1]
        for form in spanish_truncated.TRUNCATED
        | spanish_truncated.AGREEING
        | portuguese_truncated.TRUNCATED
        | portuguese_truncated.AGREEING
        if len(form) > 3 and form[:-1].isalpha()
    )
    - _ENGLISH_IN_IBERIAN
    - _ALSO_ENGLISH
)
_ROMANCE_INSIDE: Final = (
    _CUT
    | _IBERIAN
    | frozenset(map(str.capitalize, _IBERIAN))
    | SHORT_WORDS
    | frozenset(
        "uds cdas cdta cdtas Fdez alg col Pte alq Alq máx mín Mín Máx prob Op Cass soc corresp Cfr cfr trad Trad "
        "Cost contr lav stip Stip Trib Uff uff prod Prod xíc vl Vel vel hum umid pça Pça av pl imp bout cucch segg "
        "Proc proc cheg hor Hor próx diam diâm Temp pobl gob vid Vid préf appt Resp batt prov tto magn mag niv "
        "spect aa pz Pz grs dte dtes pta cdo plat prop Próx próx Lit lit eng grat acq mill bouff caps feb".split()
    )
)
_ROMANCE_FIGURES: Final = (
    SHORT_WORDS
    | _IBERIAN
    | frozenset(map(str.capitalize, _IBERIAN))
    | frozenset(
        "th réf Réf tabl ann giov merc sped sc co sez carr voit Stip int amb fls Ag Ex vl unit qtd hab Temp alt "
        "prezzo rif stag arr dép déj part j press scad tot caus prov hon "
        "mart loc fatt T surf larg haut prec prél éch cott Arts arts Alb alb Ped ped Ejerc ejerc plat Plat prop "
        "perm subs "
        "emb tpl ép f st es par trasp val capp".split()
    )
)
_ROMANCE_NAMES: Final = frozenset(
    "amm Amm Excmo Excma Ilmo Ilma obs pl Col Uff Eng Pe rel Cel Des Cb Alm Maj Brig Resp Pol Hnos chem rte Rés rés "
    "Fco Vte dir Ma Proc Lic Lcdo Sgto Cnel Tte Gral Mons Gov Dep Sen Part "
    "Arq arq Abg Abog Psic Coord Dip Gob".split()
)
_UNITS: Final = frozenset(
    "oz lb lbs qt pt tsp tbsp ft in yd gal mi km hr hrs mins sec secs wk wks yr yrs nt nts lin".split()
)
# Titles and streets of the Romance languages, which are words where no name follows.
_BEFORE_NAMES: Final = frozenset("bt d av Av bd sig prof ing arch geom avda Avda pza Pza ctra Ctra".split())
_BEFORE_LETTERS: Final = frozenset(
    "Lamp Pz cl app App art bât bl esc lett pt Pt sc Sec Sect tbl Tbl Rm Apt Ste Bldg Exh Gp Appx Apx Sched Ex Exs "
    "Rev rev Att Attach Encl".split()
)
_LEADS_TO_NAMES: Final = _BEFORE_NAMES | _ROMANCE_NAMES
_LEADS_TO_FIGURES: Final = _BEFORE_FIGURES | _ROMANCE_FIGURES
_NAMES_LETTERS: Final = english.LABEL_WORDS | malay.LABEL_WORDS | _NUMERALS
_UNDECIDED: Final = (
    _BEFORE_FIGURES
    | _BEFORE_NAMES
    | _BEFORE_LETTERS
    | _NEVER_ENDS
    | _MAY_END
    | _INSIDE_BEFORE_SMALL
    | _UNITS
    | _ROMANCE_INSIDE
    | _ROMANCE_FIGURES
    | _ROMANCE_NAMES
    | {pair.split()[0] for pair in _PAIRS}
)


def may_abbreviate(word: str) -> bool:
    """Return whether it depends on what follows if a full stop behind a word ends a sentence."""
    return (
        len(word) == 1
        or word.isdigit()
        or word in _UNDECIDED
        or _ROMAN.fullmatch(word) is not None
        or _DOTTED.fullmatch(word) is not None
    )


def never_ends(word: str) -> bool:
    """Return whether a word with a full stop shortens what stands before a name, a figure or a sum."""
    return word in _NEVER_ENDS or word in _BEFORE_FIGURES or word in _SHORTENED or word in _UNITS or word in _PRICED


_SPELLED = re.compile(r"(?<!\w)[A-Z] I [A-Z]\Z")  # as V I H, and no "I" before an initial
_SPELLED_REACH = 6


def last_word(text: str, end: int) -> str:
    """The word before a position, with the full stops inside it."""
    last = _LAST_WORDS.search(text[max(0, end - _REACH) : end])
    return _WIDE_BEFORE.sub("", last["word"]) if last else ""


def shortens(text: str, stop: int, following: str, *, initial_follows: bool) -> bool:
    """Return whether the full stop at a position only shortens the word before it, in the middle of a sentence.

    `following` is the word behind it; `initial_follows` says that this is one letter with a full stop too.
    """
    last = _LAST_WORDS.search(text[max(0, stop - _REACH) : stop])
    if last is None:
        return False
    word, before = last_word(text, stop), last["before"] or ""
    if word in _NEVER_ENDS or f"{word} {following}" in _PAIRS or _leads_to(word, following):
        return True
    if word in _INSIDE_BEFORE_SMALL or (word in _ROMANCE_INSIDE and following[0].islower()):
        return not following[0].isupper()
    if word == "No":
        return bool(before) or following.islower() or (len(following) > 1 and following.isupper())
    if word in ("no", "nos", "ref", "Ref"):
        prefixed = following.isupper() and 1 < len(following) <= _LONGEST_PREFIX
        return prefixed or (word == "no" and english.is_owned_number(text, stop))
    if word in ("N", "E", "S", "W", "L", "R", "D", "P", "K") and following[0].isdigit():
        return True
    if word.isdigit() or (_ROMAN.fullmatch(word) and following[0].isupper() and _begins_line(text, stop, word)):
        return _begins_line(text, stop, word)
    starts_anew = following in STARTERS and not initial_follows
    if word in _MAY_END or _DOTTED.fullmatch(word) or _is_measured(text, stop, word):
        return not starts_anew
    if word == "C" and following.islower():
        return text[stop - 3 : stop - 1] in ("a.", "d.") or text[stop - 4 : stop - 1] in ("a. ", "d. ")
    initial = len(word) == 1 and word.isupper() and following[0].isupper()
    spelled = _SPELLED.search(text[max(0, stop - _SPELLED_REACH) : stop]) is not None
    return initial and not starts_anew and not spelled and not _names_letter(before)


def _names_letter(before: str) -> bool:
    """Return whether a letter behind this word names a thing, or is spelled together with it, as M Y."""
    spelled = len(before) == 1 and before.isupper() and before != "I"
    return spelled or before.lower() in _NAMES_LETTERS


def _leads_to(word: str, following: str) -> bool:
    """Return whether a short word stands before the figure or the name that it belongs to."""
    if word in _BEFORE_LETTERS and len(following) == 1:
        return True
    if len(word) == 1 and word.isupper() and english.SPECIES.fullmatch(following):
        return True
    if word == "s":  # a century or a section
        return following[0].isdigit() or _ROMAN.fullmatch(following) is not None
    if word in _LEADS_TO_NAMES and following[0].isupper():
        return following not in STARTERS
    if following == "I" and word in _NUMBERED:
        return True
    return word in _LEADS_TO_FIGURES and _is_figure(following)


def _begins_line(text: str, stop: int, word: str) -> bool:
    return stop == len(word) or text[stop - len(word) - 1] == "\n"


def _is_figure(word: str) -> bool:
    return any(char.isdigit() for char in word) or _ROMAN.fullmatch(word) is not None


def _is_measured(text: str, stop: int, word: str) -> bool:
    """Return whether a word is the unit of a figure before it."""
    counted = text[max(0, stop - _REACH) : stop - len(word)].rstrip()[-1:].isnumeric()
    return counted and (word in _UNITS or word in ("c", "d", "t", "T"))
