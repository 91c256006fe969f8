"""The compose files together, as podman-compose reads, fills in and merges them."""

import json
from pathlib import Path
from typing import Any

import pytest

from helpers.client_environment import run_client

ROOT = Path(__file__).parents[2]
BASE = "compose.yaml"
GPU, VLLM, MONITORING = (f"deploy/compose/{name}.yaml" for name in ("gpu", "vllm", "monitoring"))
GIVEN = {"POLYVOX_API_KEYS": "one", "VLLM_API_KEY": "two", "GRAFANA_PASSWORD": "three"}
CASES = {
    "alone": ([BASE], GIVEN),
    "gpu": ([BASE, GPU], GIVEN),
    "vllm": ([BASE, GPU, VLLM], GIVEN),
    "monitoring": ([BASE, MONITORING], GIVEN),
    "without keys": ([BASE], {}),
    "without a password": ([BASE, MONITORING], {"POLYVOX_API_KEYS": "one"}),
}


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    cases = tmp_path_factory.mktemp("compose") / "cases.json"
    cases.write_text(json.dumps([{"files": files, "given": given} for files, given in CASES.values()]))
    return dict(zip(CASES, run_client("charts", "compose_config.py", ROOT, cases)["merged"], strict=True))


def test_each_overlay_keeps_what_makes_the_server_safe(merged: dict[str, dict[str, Any]]) -> None:
    for case in ("alone", "gpu", "vllm", "monitoring"):
        polyvox = merged[case]["services"]["polyvox"]
        assert polyvox["read_only"] is True, case
        assert polyvox["cap_drop"] == ["ALL"]
        assert polyvox["environment"]["POLYVOX_API_KEYS"] == "one"
        assert "data:/data" in polyvox["volumes"]


def test_an_overlay_changes_what_it_says(merged: dict[str, dict[str, Any]]) -> None:
    assert merged["alone"]["services"]["polyvox"]["image"] == "polyvox:cpu"
    gpu = merged["gpu"]["services"]["polyvox"]
    assert (gpu["image"], gpu["build"]["target"]) == ("polyvox:cuda", "cuda")
    assert "models:/models" in gpu["volumes"]
    vllm = merged["vllm"]["services"]
    assert vllm["polyvox"]["environment"]["POLYVOX_MODELS"] == "speechlm", "the last file wins"
    assert vllm["polyvox"]["environment"]["POLYVOX_SPEECHLM_API_KEY"] == vllm["vllm"]["environment"]["VLLM_API_KEY"]


def test_the_key_of_the_monitors_comes_from_a_file(merged: dict[str, dict[str, Any]]) -> None:
    monitoring = merged["monitoring"]
    assert monitoring["secrets"] == {"metrics_key": {"file": "./secrets/metrics_key"}}
    assert monitoring["services"]["prometheus"]["secrets"] == ["metrics_key"]


def test_what_lacks_a_secret_is_refused_with_the_name_of_its_variable(merged: dict[str, dict[str, Any]]) -> None:
    assert "set it to a long secret" in merged["without keys"]["refused"]
    assert "set it to a password" in merged["without a password"]["refused"]
