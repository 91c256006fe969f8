"""The build's hook: every wheel and every source archive names the commit that it was made from."""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACES = {"wheel": "polyvox/revision.txt", "sdist": "src/polyvox/revision.txt"}


class RevisionHook(BuildHookInterface):
    """Puts `revision.txt` into the package; an editable install asks its checkout instead."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        revision = self._revision() if version != "editable" else ""
        if not revision:
            return
        self._folder = tempfile.TemporaryDirectory()
        file = Path(self._folder.name, "revision.txt")
        file.write_text(f"{revision}\n")
        build_data["force_include"][str(file)] = PLACES[self.target_name]

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "_folder"):
            self._folder.cleanup()

    def _revision(self) -> str:
        """Of an image's build, of this checkout, or none: an unpacked source archive has the file already."""
        if given := os.environ.get("POLYVOX_REVISION", "").strip():
            return given
        if not Path(self.root, ".git").exists():
            return ""
        command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
        return subprocess.check_output(command, cwd=self.root, text=True).strip()  # noqa: S603
