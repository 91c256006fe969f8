"""The short form of shares where money is traded, which is that of companies elsewhere: "0,94 € per az."."""

import re
from typing import Final

from polyvox.text.tracked import TrackedText

_SHORT: Final = re.compile(r"(?<![\w.])[Aa]z\.(?!\w)")
_ONE: Final = re.compile(r"(?:(?<!\w)(?:[Pp]er |[Oo]gni |[Uu]n')|(?<![\w.,])1 )\Z")
_MANY: Final = re.compile(r"(?:\d|mila|(?:mln\.?|mld\.?|ion[ei]|iard[oi]) di) \Z")
_KIND: Final = re.compile(r" (?:ordinari|privilegiat|propri)(?:(?P<one>a)|e)(?!\w)")
_QUOTED: Final = " quotat"
"""Words of companies, beside the market too."""
_TRADED: Final = re.compile(
    r"(?<!\w)(?:dividend[oi]|titol[oi]|borsa|quot(?:e|ate?|at[io]|azion[ei])|util[ei]|EPS|UPA|OPA|OPS|cedol[ae]|buyback"
    r"|azionist[aei]|piazza affari|FTSE|aumento di capitale)(?!\w)",
    re.IGNORECASE,
)
_ENDS: Final = re.compile(r"[»”\")]*(?:\s*\Z|\s*\n)")
_REACH: Final = 80


def read_shares(text: TrackedText) -> TrackedText:
    return text.sub(_SHORT, _share) if "z." in text.text else text


def _share(match: re.Match[str]) -> str | None:
    """None for companies."""
    text = match.string
    before = re.split(r"[;\n]", text[max(0, match.start() - _REACH) : match.start()])[-1]
    after = re.split(r"[;\n]", text[match.end() : match.end() + _REACH])[0]
    kind, many = _KIND.match(after), _MANY.search(before) and not _ONE.search(before)
    traded = (many or _ONE.search(before)) and (_TRADED.search(before) or _TRADED.search(after))
    if not kind and (not traded or after.startswith(_QUOTED)):
        return None
    ending = "i" if (not kind["one"] if kind else many) else "e"
    return f"{match.group()[0]}zion{ending}" + ("." if _ENDS.match(text, match.end()) else "")
