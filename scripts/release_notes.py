"""What a release is: its version, the commit it is made from, and the part of the changelog that tells of it."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UNRELEASED = "Unreleased"


class ReleaseError(Exception):
    """A tag that does not fit the tree it is on; the message names the fix."""


@dataclass(frozen=True, slots=True)
class Release:
    """A tagged commit, or a snapshot of any other; `changes` is Markdown."""

    version: str
    commit: str
    tag: str
    changes: str

    @property
    def title(self) -> str:
        return f"Polyvox {self.version}" if self.tag else f"Polyvox {self.version}, snapshot of {self.commit}"


def section(changelog: str, heading: str) -> str:
    """The text below the heading of a version, up to the next version; empty where there is no such heading."""
    pattern = rf"^## {re.escape(heading)}(?: - \d{{4}}-\d\d-\d\d)?$\n(.*?)(?=^## |\Z)"
    found = re.search(pattern, changelog, re.MULTILINE | re.DOTALL)
    return "" if found is None else found[1].strip()


def release_of(version: str, commit: str, tag: str, changelog: str) -> Release:
    """The release of a commit; ReleaseError where a tag says something else than the tree."""
    if not tag:
        return Release(version, commit, "", section(changelog, UNRELEASED) or section(changelog, version))
    if tag != f"v{version}":
        raise ReleaseError(f"The tag {tag} is on version {version}: set __version__ to {tag.removeprefix('v')}.")
    if commit.endswith("-dirty"):
        raise ReleaseError("Files differ from the tagged commit: commit or remove the changes.")
    if section(changelog, UNRELEASED):
        raise ReleaseError(f"CHANGELOG.md has unreleased changes: put them below a heading '## {version} - DATE'.")
    if not (changes := section(changelog, version)):
        raise ReleaseError(f"CHANGELOG.md has no heading '## {version} - DATE' with changes below it.")
    return Release(version, commit, tag, changes)


def this_release(tag: str) -> Release:
    """The release of the checkout."""
    commit = subprocess.check_output(
        ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"], cwd=ROOT, text=True
    ).strip()
    [version] = re.findall(r'__version__ = "([^"]+)"', (ROOT / "src/polyvox/__init__.py").read_text(encoding="utf-8"))
    return release_of(version, commit, tag, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
