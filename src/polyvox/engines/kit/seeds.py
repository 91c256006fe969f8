"""Seeds: one for a request, and those of its parts derived from it."""

import hashlib
import secrets

SEED_BITS = 63


def request_seed(seed: int | None) -> int:
    """The seed of a request, drawn where its caller gave none."""
    return secrets.randbits(SEED_BITS) if seed is None else seed % (1 << SEED_BITS)


def derive_seed(seed: int, role: str, index: int) -> int:
    """The seed of one part of what `seed` stands for.

    The first part has the seed itself, so that a text of one part sounds the same however it is asked for. `role` says
    what is counted ("turn", "segment"): parts of different roles never share a seed, whatever their indices.
    """
    if index == 0:
        return seed
    digest = hashlib.sha256(f"{seed}/{role}/{index}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - SEED_BITS)
