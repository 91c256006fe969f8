"""Technical signs in Portuguese."""

from typing import Final

from polyvox.text.normalize.romance.technical.signs import Technical

_PARTS: Final = {7: "sétimo", 9: "nono", 100: "centésimo", 1000: "milésimo"}
_CURRENCIES: Final = {
    "EUR": "euro", "USD": "dólar", "GBP": "libra", "JPY": "iene", "CHF": "franco", "MXN": "peso", "ARS": "peso",
    "COP": "peso", "CLP": "peso", "BRL": "real", "CNY": "yuan", "BTC": "bitcoin", "ETH": "ether",
    "CAD": "dólar canadense",
    "AUD": "dólar australiano",
}  # fmt: skip


def _parts(top: int, bottom: int) -> str | None:
    """The parts of a sum whose names are not common: "5 doze avos"; None for the others."""
    if bottom in _PARTS:
        return f"um {_PARTS[bottom]}" if top == 1 else f"{top} {_PARTS[bottom]}s"
    if not 10 < bottom < 100:
        return None
    return f"{'um' if top == 1 else top} {bottom} {'avo' if top == 1 else 'avos'}"


TECHNICAL: Final = Technical(
    "aproximadamente",
    "dois pontos",
    "menos",
    "e",
    "ou",
    "ponto",
    "underline",
    "mais",
    "diferente de",
    _parts,
    _CURRENCIES,
)
