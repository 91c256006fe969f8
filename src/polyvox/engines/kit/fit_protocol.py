"""Protocol of a worker process that fits a voice: it reads one line of JSON, then samples, from standard input.

It writes lines of JSON: `{"step", "steps", "similarity"}` after each step, and last `{"style"}` or `{"error",
"missing"}`.
"""

import json
from dataclasses import asdict, dataclass

from polyvox.types import Pcm


@dataclass(frozen=True, slots=True)
class FitRequest:
    """The request line; `samples` float32 samples follow it.

    0 `steps`: as many as suit the device; 0 `threads`: one for each core.
    """

    models_dir: str
    sample_rate: int
    samples: int
    steps: int
    seed: int
    threads: int

    def packed(self, pcm: Pcm) -> bytes:
        """Request and samples as bytes for the worker."""
        return json.dumps(asdict(self)).encode() + b"\n" + pcm.astype("<f4").tobytes()
