"""The size of what is in the repository: whoever clones it fetches all of it, for ever.

Weights are replaced, and new ones are fetched by `polyvox pull`. A limit is raised for a reason that the commit names.
"""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_BYTES = 126_000_000
MOST_WEIGHT_BYTES = 107_000_000
LARGEST_BYTES = 22_000_000
LARGE_BYTES = 1_000_000
MOST_LARGE_FILES = 26
WEIGHTS = (".bin", ".gz", ".npz", ".onnx", ".pt", ".pth", ".safetensors", ".zip")


def tracked() -> dict[Path, int]:
    """The bytes of every file that git knows."""
    names = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT).decode().split("\0")
    return {ROOT / name: (ROOT / name).stat().st_size for name in names if name and (ROOT / name).is_file()}


def test_the_tree_does_not_grow_unnoticed() -> None:
    sizes = tracked()
    assert len(sizes) > 1_000
    weights = sum(size for path, size in sizes.items() if path.suffix in WEIGHTS)
    large = [path for path, size in sizes.items() if size > LARGE_BYTES]
    total = sum(sizes.values())
    print(f"{total:,} bytes in {len(sizes):,} files, {weights:,} of them weights; {len(large)} above 1 MB")
    assert total <= MOST_BYTES
    assert weights <= MOST_WEIGHT_BYTES
    assert max(sizes.values()) <= LARGEST_BYTES, max(sizes, key=sizes.__getitem__)
    assert len(large) <= MOST_LARGE_FILES
