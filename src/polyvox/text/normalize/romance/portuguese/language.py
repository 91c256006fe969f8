"""Portuguese, as Brazilians read it: its numbers, and the words that the shared rules need."""

import re
from typing import Final

from polyvox.text.normalize.romance.agreement.adjectives import Agreement, nouns
from polyvox.text.normalize.romance.agreement.counted_before import CountedBefore
from polyvox.text.normalize.romance.agreement.genders import is_portuguese_feminine
from polyvox.text.normalize.romance.calendar.day_spans import DaySpans
from polyvox.text.normalize.romance.language import Gender, Noun, RomanceCurrency, RomanceLanguage, Scale
from polyvox.text.normalize.romance.measures.amperes import Amperes
from polyvox.text.normalize.romance.measures.units import units
from polyvox.text.normalize.romance.portuguese.abbreviations import ABBREVIATIONS
from polyvox.text.normalize.romance.portuguese.figures import in_words
from polyvox.text.normalize.romance.portuguese.technical import TECHNICAL
from polyvox.text.normalize.romance.portuguese.truncated import AGREEING
from polyvox.text.normalize.romance.portuguese.words import (
    ACRONYMS,
    FUNCTION_WORDS,
    LABELS,
    OTHER_UNITS,
    PLAIN_UNITS,
    PREFIXES,
)
from polyvox.text.normalize.romance.weather import Weather

_ONES: Final = (
    "zero um dois três quatro cinco seis sete oito nove dez onze doze treze quatorze quinze dezesseis dezessete "
    "dezoito dezenove"
).split()
_TENS: Final = ("", "", "vinte", "trinta", "quarenta", "cinquenta", "sessenta", "setenta", "oitenta", "noventa")
_HUNDREDS: Final = (
    "",
    *"cento duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos novecentos".split(),
)
_ORDINALS: Final = ("", *"primeiro segundo terceiro quarto quinto sexto sétimo oitavo nono".split())
_TENTHS: Final = {
    1: "décimo",
    2: "vigésimo",
    3: "trigésimo",
    4: "quadragésimo",
    5: "quinquagésimo",
    6: "sexagésimo",
    7: "septuagésimo",
    8: "octogésimo",
    9: "nonagésimo",
}
_MONTHS: Final = (
    "",
    *"janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro".split(),
)
_SCALES: Final = ((10**12, "trilhão", "trilhões"), (10**9, "bilhão", "bilhões"), (10**6, "milhão", "milhões"))


def cardinal(value: int, gender: Gender) -> str:
    """A cardinal: "vinte e um", "duas" and "duzentas" before a feminine noun."""
    for scale, one, many in _SCALES:
        if value >= scale:
            count, rest = divmod(value, scale)
            words = f"{cardinal(count, Gender.ALONE)} {one if count == 1 else many}"
            return f"{words}{_joint(rest)}{cardinal(rest, gender)}" if rest else words
    thousands, rest = divmod(value, 1000)
    if not thousands:
        return _below_thousand(rest, gender)
    words = "mil" if thousands == 1 else f"{_below_thousand(thousands, gender)} mil"
    return f"{words}{_joint(rest)}{_below_thousand(rest, gender)}" if rest else words


def _joint(rest: int) -> str:
    """Before the last group: "e" where it is below a hundred or full hundreds."""
    while rest % 1000 == 0:
        rest //= 1000
    return " e " if rest < 100 or (rest < 1000 and rest % 100 == 0) else " "


def _below_thousand(value: int, gender: Gender) -> str:
    if value == 100:
        return "cem"
    hundreds, rest = divmod(value, 100)
    name = _HUNDREDS[hundreds]
    if gender is Gender.FEMININE and hundreds > 1:
        name = name[:-2] + "as"
    if not hundreds:
        return _below_hundred(rest, gender)
    return f"{name} e {_below_hundred(rest, gender)}" if rest else name


def _below_hundred(value: int, gender: Gender) -> str:
    if value >= 20:
        tens, ones = divmod(value, 10)
        return f"{_TENS[tens]} e {_below_hundred(ones, gender)}" if ones else _TENS[tens]
    if gender is Gender.FEMININE and value in (1, 2):
        return "uma" if value == 1 else "duas"
    return _ONES[value]


def ordinal(value: int, gender: Gender) -> str:
    """An ordinal up to ninety-nine; cardinals are said beyond."""
    tens, ones = divmod(value, 10)
    if not 0 < value < 100:
        return cardinal(value, Gender.ALONE)
    parts = ([_TENTHS[tens]] if tens else []) + ([_ORDINALS[ones]] if ones else [])
    return " ".join(part[:-1] + "a" if gender is Gender.FEMININE else part for part in parts)


def _date(day: int, month: int, year: int | None) -> str:
    words = f"{'primeiro' if day == 1 else cardinal(day, Gender.ALONE)} de {_MONTHS[month]}"
    return words if year is None else f"{words} de {cardinal(year, Gender.ALONE)}"


def _time(hour: int, minute: int, second: int, half: str) -> str:
    words = [cardinal(hour, Gender.FEMININE)]
    if minute and not hour:
        words.append(f"hora e {cardinal(minute, Gender.ALONE)}")
    elif minute:
        words.append(f"e {cardinal(minute, Gender.ALONE)}")
    elif not half:
        words.append("hora" if hour <= 1 else "horas")
    if second:
        words.append(f"e {cardinal(second, Gender.MASCULINE)} segundo{'' if second == 1 else 's'}")
    if half:
        words.append("da manhã" if half == "am" else "da noite" if 7 <= hour < 12 else "da tarde")
    return " ".join(words)


def _singular(noun: str) -> str:
    """One of a counted noun: "xícaras", "colheres", "meses"."""
    if noun == "meses":
        return "mês"
    return noun[:-2] if noun.endswith(("res", "zes")) and noun[-4] in "aeiou" else noun.removesuffix("s")


def _plural(word: str) -> str:
    """Of an adjective: "anuais", "exteriores", "úteis"."""
    if word.endswith(("al", "el", "ul")):
        return word[:-1] + "is"
    return word[:-1] + "s" if word.endswith("il") else word + ("es" if word[-1] in "rz" else "s")


def _ruler(value: int, gender: Gender) -> str:
    return ordinal(value, gender) if value <= 10 else cardinal(value, Gender.ALONE)


_CENTAVO: Final = Noun("centavo", "centavos")
_EURO: Final = RomanceCurrency(Noun("euro", "euros"), Noun("cêntimo", "cêntimos"))
_DOLLAR: Final = RomanceCurrency(Noun("dólar", "dólares"), Noun("centavo", "centavos"))
_REAL: Final = RomanceCurrency(Noun("real", "reais"), _CENTAVO)

_AGREEMENT: Final = Agreement(
    AGREEING,
    nouns(
        {**ABBREVIATIONS.anywhere, **ABBREVIATIONS.leading},
        {"hab.": "habitação", "kit.": "kitnet", "ped.": "pedido", "dir.": "direção"},
    ),
    ABBREVIATIONS.before_figures,
    FUNCTION_WORDS | frozenset(_MONTHS) | frozenset("alta baixa média próxima primeira".split()),
    is_portuguese_feminine,
    _plural,
)
_DATED: Final = (
    "segunda terça quarta quinta sexta sábado domingo feira ª dia dias data vencimento vence prazo "
    "termina término entrega retirada fechamento início limite validade fase prova exame consulta retorno vestibular"
)

PORTUGUESE: Final = RomanceLanguage(
    cardinal=cardinal,
    ordinal=ordinal,
    ordinal_suffixes=r"\.?(?:º|°(?! ?[CF]))|\.?(?P<feminine>ª)|(?P<feminine_letter>a)(?= [a-z])|o(?= [a-z])",
    point="vírgula",
    stop="ponto",
    slash="barra",
    minus="menos",
    percent="por cento",
    per=lambda name: f"por {name}",
    every="a cada",
    less_than="menos de",
    more_than="mais de",
    function_of="de",
    rates=frozenset(
        (
            "K dia dias semana mês ano hora noite pessoa quilo litro minuto segundo unidade min h dose kg km "
            "cliente turma casal trecho peça garrafa caixa vaga viagem aula sessão jogo pacote comprimido criança "
            "adulto aluno"
        ).split()
    ),
    upto="a",
    either=lambda _: "ou",
    by="por",
    times=Noun("vez", "vezes", feminine=True),
    scored_by_x=True,
    over="por",
    out_of="de",
    of=lambda name: f"de {name}",
    phone_groups={"0800": "zero oitocentos", "0300": "zero trezentos", "0500": "zero quinhentos"},
    digits_in_phones=1,
    months=_MONTHS,
    month_forms={name: index for index, name in enumerate(_MONTHS) if name}
    | {name[:3]: index for index, name in enumerate(_MONTHS) if name},
    date=_date,
    month_of=lambda month, year: f"{month} de {year}",
    before_date=frozenset(f"de a o ao entre para em no até desde do {_DATED}".split()),
    before_marked_date=frozenset(_DATED.split()),
    before_time=frozenset("às das as".split()),
    time=_time,
    and_minutes="e ",
    hours_from="das",
    hours_upto="às",
    before_minute=frozenset(),
    minute_of=str,
    time_marks=r" ?hs?",
    currencies={
        "R$": _REAL,
        "BRL": _REAL,
        "€": _EURO,
        "EUR": _EURO,
        "$": _DOLLAR,
        "US$": _DOLLAR,
        "USD": _DOLLAR,
        "£": RomanceCurrency(Noun("libra", "libras", feminine=True), Noun("pêni", "pence")),
        "¥": RomanceCurrency(Noun("iene", "ienes")),
    },
    and_cents="e",
    one_below_two=True,
    scales={
        "mil": Scale("mil", "mil", counted_of=False),
        "k": Scale("mil", "mil", counted_of=False),
        "K": Scale("mil", "mil", counted_of=False),
        "milhão": Scale("milhão", "milhões", counted_of=True),
        "milhões": Scale("milhão", "milhões", counted_of=True),
        "mi": Scale("milhão", "milhões", counted_of=True),
        "bilhão": Scale("bilhão", "bilhões", counted_of=True),
        "bilhões": Scale("bilhão", "bilhões", counted_of=True),
        "bi": Scale("bilhão", "bilhões", counted_of=True),
        "M": Scale("milhão", "milhões", counted_of=True),
    },
    units=units(PREFIXES, PLAIN_UNITS, OTHER_UNITS),
    powers={"²": ("quadrado", "quadrados"), "³": ("cúbico", "cúbicos")},
    exponents={"2": "ao quadrado", "3": "ao cubo", "^": "elevado a"},
    fractions={
        2: Noun("meio", "meios"),
        3: Noun("terço", "terços"),
        4: Noun("quarto", "quartos"),
        5: Noun("quinto", "quintos"),
        6: Noun("sexto", "sextos"),
        8: Noun("oitavo", "oitavos"),
        10: Noun("décimo", "décimos"),
    },
    signs={
        "&": "e",
        "+": "mais",
        "=": "igual a",
        "×": "vezes",
        "÷": "dividido por",
        "±": "mais ou menos",
        "<": "menor que",
        ">": "maior que",
        "≤": "menor ou igual a",
        "≥": "maior ou igual a",
        "≈": "aproximadamente",
        "%": "por cento",
        "@": "arroba",
        "#": "número",
        "€": "euros",
        "$": "dólares",
        "°": "graus",
        "≠": "diferente de",
        "√": "raiz de",
        "‰": "por mil",
        "π": "pi",
        "∞": "infinito",
        "Δ": "delta",
        "α": "alfa",
        "β": "beta",
        "γ": "gama",
        "λ": "lambda",
        "σ": "sigma",
        "θ": "teta",
        "ω": "ômega",
        "Ω": "ômega",
        "©": "copyright",
        "§": "parágrafo",
    },
    keys={"#": "jogo da velha", "*": "asterisco"},
    web={".": "ponto", "/": "barra", "-": "hífen", "_": "underline", "@": "arroba", ":": "dois pontos", "=": "igual"},
    abbreviations=ABBREVIATIONS,
    acronyms=ACRONYMS,
    labels=LABELS,
    roman_labels=frozenset(
        (
            "incisos artigos títulos anexos alíneas século séculos capítulo tomo volume ato cena parte livro "
            "título fase nível tipo grupo guerra mundial "
            "inciso artigo anexo seção tabela figura classe alínea grau "
            "categoria bloco módulo"
        ).split()
    ),
    rulers=frozenset(
        (
            "Pedro João Paulo Manuel Afonso Luís Carlos Filipe Henrique Pio Bento Leão Gregório Isabel Elizabeth "
            "Jorge Eduardo Napoleão Francisco Fernando Sancho José Ramsés Alexandre Clemente Inocêncio Urbano "
            "Bonifácio Sisto Júlio Constantino Otão Rodolfo Frederico Guilherme Nicolau Ricardo Alberto Duarte "
            "Sebastião Miguel Dinis Ramiro Vaticano"
        ).split()
    ),
    queens=frozenset(("Isabel Maria Catarina Elizabeth Elisabete Vitória Cristina Leopoldina Joana Ana").split()),
    ruler_number=_ruler,
    century=None,
    euphony=(("s uma", re.compile(r"\b([Dd]a|[Àà])s (?=uma (?:hora\b|e ))"), r"\1 "),),
    is_feminine=is_portuguese_feminine,
    articles=frozenset("o a os as do da no na ao à".split()),
    function_words=FUNCTION_WORDS,
    half=lambda noun, gender: f"{'meia' if gender is Gender.FEMININE else 'meio'} {noun}",
    and_half=lambda gender: "e meia" if gender is Gender.FEMININE else "e meio",
    degrees=Noun("grau", "graus"),
    temperature_scales={"C": "Celsius", "F": "Fahrenheit", "K": "Kelvin"},
    before_hyphened_date=frozenset(f"dia até desde {_DATED}".split()),
    decimal_comma=True,
    singular=_singular,
    counted_before=CountedBefore.of(
        "as das nas pelas às",
        r"(?:delas|destas|dessas|daquelas|das quais|dentre elas|entre elas)",
        r"a (?:mais|menos)|(?:mais|menos)(?= (?:do )?que)",
        "são|eram|foram|serão|seriam|estão|estavam|seguem|seguiam|ficaram|continuam|permanecem|tinham sido"
        "|era|foi|está|estava|ficou",
        "[ae]m|arão|erão|irão",
        is_portuguese_feminine,
        FUNCTION_WORDS | frozenset("reais dólares euros libras".split()),
    ),
    own_rules=(
        _AGREEMENT.read,
        TECHNICAL.read,
        Weather().read,
        DaySpans("de", "a").read,
        in_words,
        Amperes("ampere", "amperes").read,
    ),
    before_hours=frozenset(
        (
            "segunda terça quarta quinta sexta sábado domingo feira "
            "aberto aberta abertos abertas abre horário horários funcionamento atendimento turno expediente"
        ).split()
    ),
)
