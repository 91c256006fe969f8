"""The workflows: valid by their schema, safe by zizmor, and what a tag starts is what a person would run."""

from pathlib import Path

import pytest
import yaml

from helpers.client_environment import run_client

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
SETTINGS = ROOT / ".github/zizmor.yml"
FAULTS = {
    "misspelt": ("schema", "timeout-minutes: 60", "timeout_minutes: 60"),
    "credentials": ("safety", "        with:\n          persist-credentials: false\n", ""),
    "injected": ("safety", "- run: make release", "- run: make release TAG=${{ github.head_ref }}"),
    "stranger": ("safety", "actions/checkout@v4", "somebody/checkout@v4"),
}
RELEASE = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """What the linters say of each workflow, and of copies of one with a fault in each."""
    text = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    files = list(WORKFLOWS)
    for name, (_, right, wrong) in FAULTS.items():
        assert right in text
        file = tmp_path_factory.mktemp("workflows") / ".github" / "workflows" / f"{name}.yml"
        file.parent.mkdir(parents=True)
        file.write_text(text.replace(right, wrong))
        files.append(file)
    said = run_client("release", "workflow_check.py", SETTINGS, *files)
    return {Path(file).stem: each for file, each in said.items()}


def test_the_linters_find_nothing(found: dict[str, dict[str, str]]) -> None:
    for path in WORKFLOWS:
        assert found[path.stem] == {"schema": "", "safety": ""}, path


def test_the_linters_can_find_something(found: dict[str, dict[str, str]]) -> None:
    for name, (linter, _, _) in FAULTS.items():
        assert found[name][linter], name


def test_a_tag_makes_the_release_and_only_the_job_that_publishes_may_write() -> None:
    assert RELEASE[True] == {"push": {"tags": ["v*"]}}, "YAML reads the key `on` as true"
    build, publish = RELEASE["jobs"]["build"], RELEASE["jobs"]["publish"]
    [made] = [step for step in build["steps"] if step.get("run") == "make release"]
    assert made["env"] == {"TAG": "${{ github.ref_name }}"}
    assert (build["permissions"], publish["permissions"]) == ({"contents": "read"}, {"contents": "write"})
    assert not any("uses" in step and "checkout" in step["uses"] for step in publish["steps"])
