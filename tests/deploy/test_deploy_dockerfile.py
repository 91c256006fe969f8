"""The Dockerfile says what an operator relies on; `nightly/test_image.py` executes it."""

import json
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from helpers.dockerfile import lineage, parse_dockerfile

ROOT = Path(__file__).parents[2]
BEFORE, STAGES = parse_dockerfile(ROOT / "Dockerfile")
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
TARGETS = ("cpu", "cuda")
MODELS = "/models"

each_target = pytest.mark.parametrize("target", TARGETS)


def final(target: str, word: str) -> list[str]:
    """The instructions of a word that hold for an image."""
    return [rest for stage in lineage(STAGES, target) for rest in stage.all(word)]


def built(target: str) -> str:
    """All commands that are run for an image."""
    return "\n".join(rest for stage in lineage(STAGES, f"build-{target}") for rest in stage.all("RUN"))


def environment(target: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for rest in final(target, "ENV") for pair in rest.split())


@each_target
def test_it_runs_as_a_numbered_user_that_is_not_root(target: str) -> None:
    assert final(target, "USER")[-1] == "10001:10001"
    assert "useradd --uid 10001 --gid 10001" in STAGES["user"].all("RUN")[0]


@each_target
@pytest.mark.parametrize("word", ["ENTRYPOINT", "CMD"])
def test_it_starts_without_a_shell_that_would_swallow_signals(target: str, word: str) -> None:
    arguments = json.loads(final(target, word)[-1])
    assert arguments == {"ENTRYPOINT": ["polyvox"], "CMD": ["serve"]}[word]


@each_target
def test_a_stop_is_the_signal_that_drains(target: str) -> None:
    assert final(target, "STOPSIGNAL") == ["SIGTERM"]


@each_target
def test_its_health_is_asked_by_a_script_that_is_in_it(target: str) -> None:
    options, command = final(target, "HEALTHCHECK")[-1].split(" CMD ")
    assert {option.split("=")[0] for option in options.split()} == {
        "--interval",
        "--timeout",
        "--start-period",
        "--retries",
    }
    *_, script = json.loads(command)
    assert Path(script).parent == Path("/opt/polyvox")
    assert f"cp deploy/docker/{Path(script).name} /opt/polyvox/" in built(target)
    assert (ROOT / "deploy/docker" / Path(script).name).is_file()


@each_target
def test_only_the_data_volume_is_written_to(target: str) -> None:
    assert [json.loads(rest) for rest in final(target, "VOLUME")] == [["/data"]]
    settings = environment(target)
    assert settings["POLYVOX_DATA_DIR"] == settings["HOME"] == final(target, "WORKDIR")[-1] == "/data"
    assert settings["POLYVOX_MODELS_DIR"] == MODELS
    assert settings["PYTHONDONTWRITEBYTECODE"] == "1"


@each_target
def test_it_is_reached_from_outside_only_because_it_says_so_and_has_no_key_of_its_own(target: str) -> None:
    settings = environment(target)
    assert settings["POLYVOX_HOST"] == "0.0.0.0"
    assert not {"POLYVOX_API_KEYS", "POLYVOX_INSECURE", "POLYVOX_ALLOWED_HOSTS"} & settings.keys()


@each_target
def test_nothing_is_run_in_the_final_stages(target: str) -> None:
    assert final(target, "RUN") == [], "a build's mounts would leave their mount points in the image"
    assert final(target, "ADD") == []
    copied = [rest for rest in final(target, "COPY") if "--from=" not in rest]
    assert copied == ["LICENSE NOTICE /usr/share/doc/polyvox/"]


@each_target
def test_it_says_what_it_is_and_what_is_in_it(target: str) -> None:
    labels = " ".join(final(target, "LABEL"))
    for name in ("title", "description", "licenses", "source", "documentation", "version", "revision", "created"):
        assert f"org.opencontainers.image.{name}=" in labels
    assert re.search(r"deploy/docker/sbom\.py --models /models --output /opt/polyvox/sbom\.cdx\.json", built(target))


@each_target
def test_every_extra_that_it_installs_is_one(target: str) -> None:
    [extras] = [rest for rest in STAGES[f"build-{target}"].all("ARG") if rest.startswith("EXTRAS=")]
    names = extras.removeprefix("EXTRAS=").split(",")
    assert set(names) <= EXTRAS.keys()
    assert ("torch" in names) == (target == "cuda"), "PyTorch would double the size of the image for CPUs"
    assert '".[${EXTRAS}]"' in built(target)


def test_the_image_for_cpus_can_speak_without_any_other_file() -> None:
    assert "polyvox pull --models-dir /models kokoro" in built("cpu")
    assert "--from=build-cpu --chown=10001:10001 /models /models" in final("cpu", "COPY")
    assert list(STAGES)[-1] == "cpu", "what a build without --target makes"


def test_the_image_for_gpus_has_this_releases_pytorch_and_refuses_one_without_cuda() -> None:
    [pinned] = [item for item in EXTRAS["torch"] if item.startswith("torch==")]
    assert f"TORCH_VERSION={pinned.removeprefix('torch==')}" in STAGES["build-cuda"].all("ARG")
    steps = STAGES["build-cuda"].all("RUN")
    assert 'pip install "torch==${TORCH_VERSION}"' in steps[0]
    assert "torch.version.cuda" in steps[1]
    settings = environment("cuda")
    assert settings["NVIDIA_VISIBLE_DEVICES"] == "all"
    assert settings["NVIDIA_DRIVER_CAPABILITIES"] == "compute,utility"


def test_packages_come_from_where_the_builder_says() -> None:
    assert [rest for rest in STAGES["build"].all("ARG") if rest.startswith("PIP_")] == [
        "PIP_INDEX_URL",
        "PIP_EXTRA_INDEX_URL",
        "PIP_FIND_LINKS",
        "PIP_TRUSTED_HOST",
    ]
    for target in TARGETS:
        for rest in STAGES[f"build-{target}"].all("RUN"):
            if "pip install" in rest or "polyvox pull" in rest:
                assert rest.startswith("--mount=type=secret,id=pip.conf,target=/etc/pip.conf ")
    assert not re.search(r"--(extra-)?index-url", (ROOT / "Dockerfile").read_text(encoding="utf-8"))


def test_every_stage_starts_from_the_one_base_and_it_is_pinned_to_a_release() -> None:
    [base] = [instruction.rest for instruction in BEFORE if instruction.word == "ARG"]
    assert re.fullmatch(r"BASE_IMAGE=python:3\.\d+-slim-[a-z]+", base)
    assert {stage.base for stage in STAGES.values() if stage.base not in STAGES} == {"${BASE_IMAGE}"}


def test_only_what_the_image_is_made_from_reaches_the_build() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    sent = [rule.removeprefix("!") for rule in rules if rule.startswith("!")]
    copied = [
        word
        for stage in STAGES.values()
        for rest in stage.all("COPY")
        if "--from" not in rest
        for word in rest.split()[:-1]
    ]
    assert set(copied) == set(sent)
    assert all((ROOT / path).exists() for path in sent)
    assert not any(fnmatch(".env", path) for path in sent)
