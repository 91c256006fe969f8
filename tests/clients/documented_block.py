"""A block of Python from the documentation: `documented_block.py FILE`; prints the sizes of files that it wrote."""

import json
import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    runpy.run_path(sys.argv[1])
    print(json.dumps({path.name: path.stat().st_size for path in Path.cwd().iterdir() if path.is_file()}))
