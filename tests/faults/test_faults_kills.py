"""A server killed while it registers and removes voices, or a pull while it installs, keeps all that it promised."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.attacked_server import attacked_server
from helpers.killed_pulls import die_before_step, fetch, in_child, leftovers, opens_whole
from helpers.quick_server import PROGRAM
from helpers.sample_bundle import sample_manifest, write_files
from helpers.voice_promises import Promises, live_and_die

pytestmark = pytest.mark.long

STEPS_OF_A_PULL = 60


def test_a_killed_server_has_kept_every_voice_that_it_acknowledged(tmp_path: Path, scale: int) -> None:
    chance, promises = random.Random(9), Promises()
    for _ in range(scale):
        with attacked_server(tmp_path, program=PROGRAM) as server:
            promises.check(server)
            live_and_die(server, promises, chance)
    with attacked_server(tmp_path, program=PROGRAM) as server:
        promises.check(server)
    print(json.dumps({"kills": scale, "registered": promises.count, "removed": len(promises.removed)}))
    assert promises.count >= scale
    assert promises.kept


def random_steps(count: int) -> Iterator[int]:
    chance = random.Random(10)
    for _ in range(count):
        yield chance.randrange(STEPS_OF_A_PULL)


def test_a_killed_pull_leaves_no_half_model_and_the_next_one_completes_it(tmp_path: Path, scale: int) -> None:
    given, manifest = write_files(tmp_path / "given"), sample_manifest()
    killed = 0
    for number, step in enumerate(random_steps(4 * scale)):
        models = tmp_path / f"models-{number}"

        def work(step: int = step, models: Path = models) -> None:
            die_before_step(step, models)
            fetch(manifest, models, given)

        finished = in_child(work)
        killed += not finished
        assert opens_whole(manifest, models) or not finished
        fetch(manifest, models, given)
        assert opens_whole(manifest, models)
        assert leftovers(models) == set()
    assert killed
