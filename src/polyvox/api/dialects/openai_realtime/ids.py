"""Ids in the form of OpenAI's: what they are of, and enough random letters."""

import secrets


def new_id(kind: str) -> str:
    """A new id, such as `resp_…`; the kinds are `event`, `sess`, `conv`, `item` and `resp`."""
    return f"{kind}_{secrets.token_hex(12)}"
