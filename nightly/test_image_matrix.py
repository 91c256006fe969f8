"""Every setting that the chart can turn on, in the built image; ten minutes."""

import os
import shutil
import subprocess
import sys

import pytest
from image_matrix import TAG, matrix

from helpers.documents import ROOT
from polyvox.extras import CPU, EXTRAS

NEEDED = [name for name in ("buildah", "mmdebstrap", "redis-server") if not shutil.which(name)]


@pytest.mark.skipif(os.geteuid() != 0 or bool(NEEDED), reason=f"wants root, and {', '.join(NEEDED) or 'no more'}")
def test_the_image_serves_with_every_setting_that_needs_an_extra_of_it_and_with_all_others_of_the_matrix() -> None:
    subprocess.run([sys.executable, ROOT / "scripts/build_image.py", "--tag", TAG], check=True, timeout=1800)
    outcomes = list(matrix())
    assert [(outcome.row.name, outcome.failure) for outcome in outcomes if outcome.failure] == []
    tried = {variable for outcome in outcomes for variable in outcome.row.settings}
    needed = {f"POLYVOX_{name.upper()}" for extra in EXTRAS if CPU in extra.images for name in extra.settings}
    assert needed <= tried
