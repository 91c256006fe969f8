"""Builds a project's source archive, and its wheel from that: the project's folder and the variables to build with.

The result has the revision in each, empty where there is none.
"""

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

project, given = Path(sys.argv[1]), json.loads(sys.argv[2])
build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(project / "dist"), str(project)]
subprocess.run(build, check=True, stdout=sys.stderr, env=os.environ | given)

[source], [wheel] = (list((project / "dist").glob(pattern)) for pattern in ("*.tar.gz", "*.whl"))
with tarfile.open(source) as tar:
    named = {member.name.partition("/")[2]: member for member in tar.getmembers()}
    member = named.get("src/polyvox/revision.txt")
    in_source = "" if member is None else tar.extractfile(member).read().decode().strip()
with zipfile.ZipFile(wheel) as archive:
    name = "polyvox/revision.txt"
    in_wheel = archive.read(name).decode().strip() if name in archive.namelist() else ""
print(json.dumps({"sdist": in_source, "wheel": in_wheel}))
