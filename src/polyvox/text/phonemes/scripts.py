"""Ranges of characters by script, for use inside a regular expression's brackets."""

from typing import Final

LATIN: Final = r"A-Za-z\xaa\xba\xc0-\xd6\xd8-\xf6\xf8-\u02af\u1e00-\u1eff\ufb00-\ufb06\uff21-\uff3a\uff41-\uff5a"
HAN: Final = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u3005\u3007"
