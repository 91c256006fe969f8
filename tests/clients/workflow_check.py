"""Checks workflows: their schema by check-jsonschema, their safety by zizmor, whose settings come before the files.

The result has what each says of each file; empty where the file is right.
"""

import json
import subprocess
import sys
from pathlib import Path

PROGRAMS = Path(sys.executable).parent


def said(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(PROGRAMS / command[0]), *command[1:]], capture_output=True, text=True, check=False)


def main() -> None:
    settings, *files = sys.argv[1:]
    # One call for all files: it takes seconds to start.
    schema = said("check-jsonschema", "--builtin-schema", "vendor.github-workflows", "--output-format", "json", *files)
    errors = json.loads(schema.stdout)["errors"]
    result = {}
    for file in files:
        safety = said("zizmor", "--offline", "--no-progress", "--config", settings, file)
        result[file] = {
            "schema": "".join(error["message"] for error in errors if error["filename"] == file),
            "safety": "" if safety.returncode == 0 else safety.stdout + safety.stderr,
        }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
