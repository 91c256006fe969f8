"""Merges compose files as podman-compose does: ROOT and a JSON file with lists of files and the variables given.

Podman itself is only asked for its version before; a stand-in answers, since nothing is started.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml

STAND_IN = "#!/bin/sh\necho podman version 5.0.0\n"


def merged(root: Path, files: list[str], given: dict[str, str], podman: Path) -> dict[str, object]:
    program = Path(sys.executable).with_name("podman-compose")
    chosen = [word for file in files for word in ("--file", str(root / file))]
    ended = subprocess.run(
        [str(program), "--podman-path", str(podman), *chosen, "config"],
        env={"PATH": os.environ["PATH"], **given},
        capture_output=True,
        text=True,
        check=False,
    )
    return yaml.safe_load(ended.stdout) if ended.returncode == 0 else {"refused": ended.stderr[-2_000:]}


def main() -> None:
    root, cases = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())
    podman = Path("podman").absolute()
    podman.write_text(STAND_IN)
    podman.chmod(0o755)
    print(json.dumps({"merged": [merged(root, case["files"], case["given"], podman) for case in cases]}))


if __name__ == "__main__":
    main()
