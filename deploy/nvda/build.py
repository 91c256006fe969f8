"""Build the NVDA add-on: `python deploy/nvda/build.py [FOLDER]` writes `polyvox-VERSION.nvda-addon` there."""

import re
import sys
import zipfile
from pathlib import Path

ADDON = Path(__file__).parent / "addon"
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The same files make the same bytes, whenever they are packed."""


def build(folder: Path) -> Path:
    """Pack the add-on, which is a zip file, and return its path."""
    manifest = (ADDON / "manifest.ini").read_text(encoding="utf-8")
    [version] = re.findall(r"^version = (\S+)$", manifest, re.MULTILINE)
    path = folder / f"polyvox-{version}.nvda-addon"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(each for each in ADDON.rglob("*") if each.suffix in (".ini", ".py")):
            info = zipfile.ZipInfo(file.relative_to(ADDON).as_posix(), _ZIP_EPOCH)
            archive.writestr(info, file.read_bytes(), zipfile.ZIP_DEFLATED)
    return path


if __name__ == "__main__":
    print(build(Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
