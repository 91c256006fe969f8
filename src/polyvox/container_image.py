"""The container image that this process runs in, as the Dockerfile recorded it."""

import json
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

RECORD = "image.json"
"""File in the environment of the image; outside of one there is none."""


@dataclass(frozen=True, slots=True)
class ContainerImage:
    """One target of the Dockerfile, and the extras that it was built with."""

    target: str
    extras: tuple[str, ...]

    def build_hint(self, extras: str) -> str:
        """The command that builds an image with further extras, to be put into a sentence."""
        wanted = set(extras.split(","))
        target = "cuda" if wanted & {"torch", "tensorrt"} else self.target
        if wanted == {"torch"} and self.target != "cuda":
            return "docker build --target cuda, whose image has it"
        names = ",".join(sorted({*self.extras, *wanted}))
        return f"docker build --target {target} --build-arg EXTRAS={names}"


@cache
def this_image() -> ContainerImage | None:
    """The image around this process; None where Polyvox was installed otherwise."""
    try:
        record = json.loads((Path(sys.prefix) / RECORD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return ContainerImage(record["target"], tuple(record["extras"].split(",")))


def pull_hint(model: str) -> str:
    """The command that installs a model here, to be put into a sentence."""
    command = f"polyvox pull {model}"
    return command if this_image() is None else f"{command} in a container with a volume at /models (Helm: models.pull)"
