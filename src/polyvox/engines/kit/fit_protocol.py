"""What a process that fits a voice reads: one line of JSON, then samples.

It answers in lines of JSON: `{"step", "steps", "similarity"}` after each step, and last `{"style"}` or `{"error",
"missing"}`.
"""

import json
from dataclasses import asdict, dataclass

from polyvox.types import Pcm


@dataclass(frozen=True, slots=True)
class FitRequest:
    """What is to be fitted and how; `samples` float32 samples follow.

    0 `steps` are as many as suit the device, and 0 `threads` one for each core.
    """

    models_dir: str
    sample_rate: int
    samples: int
    steps: int
    seed: int
    threads: int

    def packed(self, pcm: Pcm) -> bytes:
        """The request as the process reads it."""
        return json.dumps(asdict(self)).encode() + b"\n" + pcm.astype("<f4").tobytes()
