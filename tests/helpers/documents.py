"""Fenced code blocks of the documents, and the shell commands in them."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\S*)[^`]*$")
_NOT_RUN = re.compile(r"^<!-- not run:(?P<reason>.*)-->$")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; `not_run` is the reason in the comment directly above it, None where there is no comment."""

    page: Path
    line: int
    language: str
    text: str
    not_run: str | None

    @property
    def where(self) -> str:
        return f"{page_name(self.page)}:{self.line}"


def page_name(page: Path) -> str:
    """The path of a page in the repository."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        fence = _FENCE.match(lines[number])
        if fence is None:
            number += 1
            continue
        first = number + 1
        number = first
        while lines[number].strip() != "```":
            number += 1
        body = [line.removeprefix(fence["indent"]) for line in lines[first:number]]
        comment = _NOT_RUN.match(lines[first - 2].strip()) if first > 1 else None
        reason = None if comment is None else comment["reason"].strip()
        yield Block(page, first, fence["language"], "\n".join(body) + "\n", reason)
        number += 1


def indented_blocks(page: Path) -> Iterator[int]:
    """The line numbers of code blocks that are set by indentation instead of a fence."""
    fenced = item = False
    before = ""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            if line and not line.startswith(" "):
                item = line.startswith(("- ", "* ")) or re.match(r"\d+\. ", line) is not None
            if line.startswith("    ") and not before and not item:
                yield number
        before = line.strip()


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a shell block: its text, its words, and the variables that are set before it."""

    text: str
    words: tuple[str, ...]
    variables: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[str, ...]:
        return tuple(word.partition("=")[0] for word in self.words if re.match(r"--?[a-zA-Z]", word))


def commands(text: str) -> Iterator[Command]:
    """The commands of a shell block: quotes and backslashes may carry one over several lines, `&&` joins several."""
    pending = ""
    for line in text.splitlines():
        pending += line + "\n"
        if line.endswith("\\"):
            continue
        try:
            words = shlex.split(pending, comments=True)
        except ValueError:  # a quote is still open
            continue
        if words:
            yield from (_command(part, pending) for part in _joined(words))
        pending = ""
    assert not pending.strip(), f"a quote is never closed: {pending}"


def _joined(words: list[str]) -> Iterator[list[str]]:
    part: list[str] = []
    for word in words:
        if word in ("&&", "&", "|"):
            yield part
            part = []
        else:
            part.append(word)
    if part:
        yield part


def _command(words: list[str], text: str) -> Command:
    count = 0
    while count < len(words) and re.match(r"[A-Za-z_]\w*=", words[count]):
        count += 1
    names = tuple(word.partition("=")[0] for word in words[:count])
    return Command(text, tuple(word.removeprefix(".venv/bin/") for word in words[count:]), names)
