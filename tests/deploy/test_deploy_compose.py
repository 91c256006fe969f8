"""The compose files: valid by their specification, and as safe as the documents say."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from compose_spec import PyCompose

from helpers.tables import each_row
from polyvox.config import ENV_PREFIX, Settings
from polyvox.engines.catalog import Catalog
from polyvox.installation import settings_loader

ROOT = Path(__file__).parents[2]
BASE = ROOT / "compose.yaml"
OVERLAYS = sorted((ROOT / "deploy/compose").glob("*.yaml"))
GIVEN = {"POLYVOX_API_KEYS": "one", "VLLM_API_KEY": "two", "GRAFANA_PASSWORD": "three"}
KILL_MARGIN_SECONDS = 10
_VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")


def interpolated(path: Path, given: Mapping[str, str] = GIVEN) -> str:
    """The file as compose reads it; KeyError where it wants a variable that is not given."""

    def value(found: re.Match[str]) -> str:
        name, operator, rest = found.groups()
        return given.get(name, rest) if operator == "-" else given[name]

    return _VARIABLE.sub(value, path.read_text(encoding="utf-8"))


def services(path: Path) -> dict[str, dict[str, Any]]:
    return yaml.safe_load(interpolated(path))["services"]


def setting_variables() -> set[str]:
    """The environment variables of all settings."""
    return {f"{ENV_PREFIX}{name}".upper() for name in settings_loader(Catalog.installed()).names()}


each_file = pytest.mark.parametrize("path", [BASE, *OVERLAYS], ids=lambda path: path.stem)


def test_there_is_a_file_for_each_way_to_run_it() -> None:
    assert [path.stem for path in OVERLAYS] == ["gpu", "monitoring", "vllm"]


@each_file
def test_it_is_valid_by_the_specification(path: Path) -> None:
    assert PyCompose.from_yaml(interpolated(path)).service_names()


@each_row("wrong", ["read_only: perhaps", "port: 80", "stop_grace_period: soon", "ports: [a:b:c:d]"])
def test_the_check_can_fail(wrong: str) -> None:
    with pytest.raises(ValueError, match="services"):
        PyCompose.from_yaml(f"services:\n  polyvox:\n    image: polyvox:cpu\n    {wrong}\n")


@each_file
def test_every_published_port_is_one_of_this_machine_only(path: Path) -> None:
    for service in services(path).values():
        assert all(str(port).startswith("127.0.0.1:") for port in service.get("ports", []))


@each_file
def test_every_setting_that_it_gives_is_one(path: Path) -> None:
    given = services(path).get("polyvox", {}).get("environment", {})
    assert set(given) <= setting_variables()


@each_file
def test_no_secret_stands_in_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for name in re.findall(r"^\s+(\w*(?:KEYS?|PASSWORD)): (?!\$\{\w+:\?)", text, re.MULTILINE):
        raise AssertionError(f"{name} has a value or a default")


@each_row(("path", "name"), [(BASE, "POLYVOX_API_KEYS"), (ROOT / "deploy/compose/vllm.yaml", "VLLM_API_KEY")])
def test_it_does_not_start_without_its_secret(path: Path, name: str) -> None:
    with pytest.raises(KeyError, match=name):
        interpolated(path, {})


def test_the_server_may_write_only_to_its_volume() -> None:
    polyvox = services(BASE)["polyvox"]
    assert polyvox["read_only"] is True
    assert polyvox["cap_drop"] == ["ALL"]
    assert polyvox["security_opt"] == ["no-new-privileges:true"]
    assert polyvox["volumes"] == ["data:/data"]
    assert [mount.split(":")[0] for mount in polyvox["tmpfs"]] == ["/tmp"]


def test_it_is_killed_only_after_its_streams_could_finish() -> None:
    polyvox = services(BASE)["polyvox"]
    drain = float(polyvox["environment"]["POLYVOX_DRAIN_SECONDS"])
    assert drain == Settings().drain_seconds
    assert int(polyvox["stop_grace_period"].removesuffix("s")) >= drain + KILL_MARGIN_SECONDS


def test_with_a_gpu_it_is_the_other_target_and_models_have_a_volume() -> None:
    polyvox = services(ROOT / "deploy/compose/gpu.yaml")["polyvox"]
    assert polyvox["build"]["target"] == "cuda"
    assert polyvox["volumes"] == ["models:/models"]
    [device] = polyvox["deploy"]["resources"]["reservations"]["devices"]
    assert device == {"driver": "nvidia", "count": 1, "capabilities": ["gpu"]}


def test_vllm_is_asked_by_its_name_with_its_key_for_the_model_that_it_serves() -> None:
    both = services(ROOT / "deploy/compose/vllm.yaml")
    polyvox, vllm = both["polyvox"]["environment"], both["vllm"]
    assert polyvox["POLYVOX_SPEECHLM_URL"] == "http://vllm:8000"
    assert polyvox["POLYVOX_SPEECHLM_API_KEY"] == vllm["environment"]["VLLM_API_KEY"]
    [family] = [section for section in settings_loader(Catalog.installed()).sections if section.section == "speechlm"]
    assert f"--served-model-name={family.model_fields['remote_model'].default}" in vllm["command"]
    assert "ports" not in vllm


def files_only(document: Mapping[str, Any]) -> list[str]:
    """Secrets that Docker Compose would refuse: it writes one without a file into the container, which is read-only."""
    declared = document.get("secrets", {})
    return [
        secret
        for service in document["services"].values()
        if service.get("read_only")
        for secret in service.get("secrets", ())
        if "file" not in declared[secret]
    ]


@each_file
def test_a_service_with_a_read_only_root_has_its_secrets_from_files(path: Path) -> None:
    document = yaml.safe_load(interpolated(path))
    assert files_only(document) == []
    from_environment = {name: {"environment": "A_KEY"} for name in document.get("secrets", {})}
    if path.stem == "monitoring":
        assert files_only({**document, "secrets": from_environment}) == ["metrics_key"]


def test_the_file_of_a_secret_is_never_part_of_the_repository() -> None:
    [secret] = yaml.safe_load(interpolated(ROOT / "deploy/compose/monitoring.yaml"))["secrets"].values()
    folder = f"/{Path(secret['file']).parent}/"
    assert folder in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_what_the_monitors_mount_is_there() -> None:
    for service in services(ROOT / "deploy/compose/monitoring.yaml").values():
        for mount in service["volumes"]:
            if (source := mount.split(":")[0]).startswith("."):
                assert (ROOT / source).is_dir(), source
