"""Technical signs in Spanish."""

from typing import Final

from polyvox.text.normalize.romance.technical.signs import Technical

_PARTS: Final = {7: "séptimo", 9: "noveno", 100: "centésimo", 1000: "milésimo"}
_TENS: Final = "_ _ veinti treinti cuarenti cincuenti sesenti setenti ochenti noventi".split()
_ROUND: Final = "_ _ veinteavo treintavo cuarentavo cincuentavo sesentavo setentavo ochentavo noventavo".split()
_TEENS: Final = (
    "onceavo doceavo treceavo catorceavo quinceavo dieciseisavo diecisieteavo dieciochoavo diecinueveavo".split()
)
_ONES: Final = "_ unavo dosavo tresavo cuatroavo cincoavo seisavo sieteavo ochoavo nueveavo".split()
_CURRENCIES: Final = {
    "EUR": "euro", "USD": "dólar", "GBP": "libra", "JPY": "yen", "CHF": "franco", "MXN": "peso", "ARS": "peso",
    "COP": "peso", "CLP": "peso", "BRL": "real", "CNY": "yuan", "BTC": "bitcoin", "ETH": "ether",
    "CAD": "dólar canadiense",
    "AUD": "dólar australiano",
}  # fmt: skip


def _parts(top: int, bottom: int) -> str | None:
    """The parts of a sum whose names are not common: "5 doceavos"; None for the others."""
    name = _PARTS.get(bottom)
    if name is None and 10 < bottom < 20:
        name = _TEENS[bottom - 11]
    elif name is None and 20 <= bottom < 100:
        tens, ones = divmod(bottom, 10)
        name = _TENS[tens] + _ONES[ones] if ones else _ROUND[tens]
    if name is None:
        return None
    return f"un {name}" if top == 1 else f"{top} {name}s"


TECHNICAL: Final = Technical(
    "aproximadamente",
    "dos puntos",
    "menos",
    "y",
    "o",
    "punto",
    "guion bajo",
    "más",
    "distinto de",
    _parts,
    _CURRENCIES,
)
