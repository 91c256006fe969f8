"""A Dockerfile as its instructions, stage by stage."""

import re
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: its word in capitals, and the rest as one line."""

    word: str
    rest: str


@dataclass(frozen=True, slots=True)
class Stage:
    """What stands between two FROMs; `base` is an image or the name of another stage."""

    name: str
    base: str
    instructions: list[Instruction] = field(default_factory=list)

    def all(self, word: str) -> list[str]:
        """The instructions of this word, in order."""
        return [instruction.rest for instruction in self.instructions if instruction.word == word]


def parse_dockerfile(path: Path) -> tuple[list[Instruction], dict[str, Stage]]:
    """The instructions before the first FROM, and the stages by name."""
    text = re.sub(r"^\s*#.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    before: list[Instruction] = []
    stages: dict[str, Stage] = {}
    current = before
    for line in re.sub(r"\s*\\\n\s*", " ", text).splitlines():
        if not line.strip():
            continue
        word, _, rest = line.strip().partition(" ")
        assert re.fullmatch(r"[A-Z]+", word), f"no instruction: {line}"
        if word == "FROM":
            base, _, name = rest.partition(" AS ")
            stages[name] = Stage(name, base)
            current = stages[name].instructions
        else:
            current.append(Instruction(word, rest.strip()))
    return before, stages


def lineage(stages: dict[str, Stage], name: str) -> list[Stage]:
    """A stage and those it is built on, the first one first."""
    stage = stages[name]
    return [*(lineage(stages, stage.base) if stage.base in stages else []), stage]
