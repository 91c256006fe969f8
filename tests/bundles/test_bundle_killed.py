"""A pull that is killed at any moment leaves no half model that opens, and the next pull completes it."""

import os
import signal
from contextlib import nullcontext
from pathlib import Path

import pytest

from helpers.killed_pulls import die_before_step, fetch, in_child, leftovers, opens_whole
from helpers.loopback_hub import LoopbackHub
from helpers.sample_bundle import FILES, sample_manifest, write_files
from helpers.silent_progress import SilentProgress
from polyvox.bundles.install import ModelsFolder
from polyvox.bundles.pull import pull_manifest


@pytest.mark.slow
def test_killed_before_any_step_of_a_first_install(tmp_path):
    given = write_files(tmp_path / "given")
    manifest = sample_manifest()
    outcomes = []
    for step in range(1000):
        models = tmp_path / f"models-{step}"

        def work(step: int = step, models: Path = models) -> None:
            die_before_step(step, models)
            fetch(manifest, models, given)

        finished = in_child(work)
        outcomes.append(opens_whole(manifest, models))
        assert outcomes[-1] or not finished
        fetch(manifest, models, given)
        assert opens_whole(manifest, models)
        assert leftovers(models) == set()
        if finished:
            break
    assert len(outcomes) > 20
    assert outcomes == sorted(outcomes), "once a model opens, a later kill must not take it away"


@pytest.mark.slow
def test_killed_before_any_step_of_a_replacement(tmp_path):
    given = write_files(tmp_path / "given")
    old, new = sample_manifest(version="1"), sample_manifest(version="2")
    opened_new = []
    for step in range(1000):
        models = tmp_path / f"models-{step}"
        fetch(old, models, given)

        def work(step: int = step, models: Path = models) -> None:
            die_before_step(step, models)
            fetch(new, models)

        finished = in_child(work)
        with ModelsFolder(models).locked():
            assert opens_whole(old, models) != opens_whole(new, models)
        opened_new.append(opens_whole(new, models))
        fetch(new, models, given)
        assert opens_whole(new, models)
        assert leftovers(models) == set()
        if finished:
            break
    assert len(opened_new) > 20
    assert opened_new == sorted(opened_new)


@pytest.mark.long
@pytest.mark.parametrize("after", [1, 65_536, 299_999, 300_001, 450_000])
def test_killed_in_the_middle_of_a_download(tmp_path, hub: LoopbackHub, after):
    manifest, models = sample_manifest(), tmp_path / "models"

    class Executioner(SilentProgress):
        def task(self, label, total):
            received = 0

            def advance(count: int) -> None:
                nonlocal received
                received += count
                if received >= after:
                    os.kill(os.getpid(), signal.SIGKILL)

            return nullcontext(advance)

    def work() -> None:
        pull_manifest(manifest, models_dir=models, folder=None, hub_url=hub.url, progress=Executioner())

    assert not in_child(work)
    assert not opens_whole(manifest, models)
    kept = sum(path.stat().st_size for path in (models / ".cache").iterdir())
    hub.behaviour.requests.clear()
    fetch(manifest, models, hub_url=hub.url)
    assert opens_whole(manifest, models)
    assert leftovers(models) == set()
    resumed = any(asked for _, asked in hub.behaviour.requests) or len(hub.behaviour.requests) < len(FILES)
    assert resumed == (kept > 0) == (after > 1)
