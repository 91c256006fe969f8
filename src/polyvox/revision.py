"""The commit that this package was made from."""

import subprocess
from pathlib import Path

_PACKAGE = Path(__file__).parent
_DESCRIBE = ("git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")


def revision(package: Path = _PACKAGE) -> str:
    """The commit as the build recorded it, else that of the checkout around the package; empty where nobody knows."""
    try:
        return (package / "revision.txt").read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        checkout = package.parents[1]
    if not (checkout / ".git").exists():
        return ""
    try:
        asked = subprocess.run(_DESCRIBE, cwd=checkout, capture_output=True, text=True, timeout=10, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):  # no git, or a disk that does not answer
        return ""
    return asked.stdout.strip() if asked.returncode == 0 else ""
