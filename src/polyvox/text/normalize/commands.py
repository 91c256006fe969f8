"""Commands of a terminal, by their programs, and the options behind them."""

import re
from typing import Final

_PROGRAM: Final = (
    r"(?:apt|awk|bash|brew|cargo|cat|cd|chmod|chown|conda|cp|curl|df|docker|du|ffmpeg|find|gcc|git|go|grep|head|helm|java|kill|kubectl|ln|ls|"
    r"make|mkdir|mv|node|nohup|nmap|npm|npx|ping|pip|pnpm|ps|pytest|python3?|rm|rsync|ruff|scp|sed|ssh|sudo|systemctl|tail|tar|uv|wc|wget|yarn|zip)"
)
_COMMAND: Final = re.compile(rf"(?<![.-])(?<![^\W\u3400-\u9fff]){_PROGRAM} (?:[^\n.!?]|[.!?](?=\S))*\Z")
_NEAR: Final = 160

OPTION: Final = re.compile(
    r"(?<=[^\s-] )(?P<dashes>--?)(?P<name>[A-Za-z][A-Za-z0-9]*+(?:-[A-Za-z0-9]++)*+)(?P<value>=(?=\w))?"
)
OPTION_LETTERS: Final = 3
"""So many letters behind one dash are as many options: "ls -la"."""


def follows_command(option: re.Match[str], called: re.Pattern[str]) -> bool:
    """Return whether a match of `OPTION` stands behind a program, or behind words that `called` finds at their end."""
    before = option.string[max(0, option.start() - _NEAR) : option.start()]
    return _COMMAND.search(before) is not None or called.search(before) is not None
