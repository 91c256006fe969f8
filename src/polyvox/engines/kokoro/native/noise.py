"""The seed of the noise in the network's source."""

import hashlib
import struct

import numpy as np

from polyvox.engines.kokoro.request import ModelInput


def noise_seed(item: ModelInput) -> int:
    """The seed of an input's noise: a hash of its ids, style and speed, so that its samples depend on nothing else."""
    content = hashlib.blake2b(struct.pack("<d", item.speed), digest_size=8)
    content.update(np.array(item.ids, "<i4").tobytes())
    content.update(item.style.astype("<f4").tobytes())
    return int.from_bytes(content.digest(), "little") >> 1
