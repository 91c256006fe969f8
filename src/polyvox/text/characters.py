"""Ranges of characters, for use inside a regular expression's brackets."""

from typing import Final

SPACES: Final = "\t\r\x0b\x0c\x1f\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"

# Controls other than the line feed, format characters, variation selectors, tags, lone surrogates, and the private
# use planes; the private use area of the basic plane is left out, because placeholders stand there.
INVISIBLE: Final = (
    "\x00-\x08\x0e-\x1e\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\ud800-\udfff\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001345f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
)
LATIN: Final = r"A-Za-z\xaa\xba\xc0-\xd6\xd8-\xf6\xf8-\u02af\u1e00-\u1eff\ufb00-\ufb06\uff21-\uff3a\uff41-\uff5a"
HAN: Final = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u3005\u3007"
