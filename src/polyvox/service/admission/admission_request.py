"""AdmissionRequest: what a session asks of admission."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AdmissionRequest:
    """A request for a slot of a model.

    `client` is a key or an address. `chars` is the length of the text, 0 where that is not known. `paced` is false
    where the time between chunks is not the engine's alone, as where it waits for text itself. Nobody listens to a
    `background` request while it is spoken: live ones go first. One that `continues` another is the same stream to its
    listener, and has begun.
    """

    model: str = ""
    client: str = ""
    chars: int = 0
    max_wait: float = math.inf
    paced: bool = True
    background: bool = False
    continues: bool = False
