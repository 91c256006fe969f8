"""`make release` without the image: all other files, made and checked; it takes some minutes."""

import hashlib
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
OUT = ROOT / "out" / "release"


def test_a_snapshot_has_every_file_with_its_sum() -> None:
    subprocess.run(["make", "release", "IMAGE=no"], cwd=ROOT, check=True, timeout=1800)
    sums = dict(line.split("  ")[::-1] for line in (OUT / "SHA256SUMS").read_text().splitlines())
    assert {Path(name).suffix for name in sums} == {".whl", ".gz", ".tgz", ".json", ".md"}
    for name, expected in sums.items():
        assert hashlib.sha256((OUT / name).read_bytes()).hexdigest() == expected, name
