"""`/v1/pulls`: what is missing to make voices, and who may have it fetched."""

from pathlib import Path
from typing import Any

import pytest

from helpers.cloning import CloneEngine
from helpers.fakes import tone_service
from helpers.serving import called, error_of
from polyvox.bundles.manifest import manifest_named
from polyvox.bundles.progress import Progress
from polyvox.config import Settings
from polyvox.extras import TORCH
from polyvox.service.registry import model_pulls

pytestmark = pytest.mark.anyio
LOCAL = {"host": "127.0.0.1"}


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Models that were asked of the hub, which has them at once."""
    asked: list[str] = []

    def fetch(model: str, settings: Settings, progress: Progress) -> None:
        asked.append(model)

    monkeypatch.setattr(model_pulls.ModelPulls.__init__, "__defaults__", (fetch,))
    return asked


async def needs(**settings: Any) -> dict[str, Any]:
    async with called(tone_service(**settings)) as client:
        return (await client.get("/v1/pulls")).json()


async def test_what_is_missing_is_named_with_licence_and_size(tmp_path: Path) -> None:
    found = await needs(models_dir=tmp_path, **LOCAL)
    assert (found["allowed"], found["pull"]) == (True, None)
    transcribe, clone, fit = found["data"]
    assert transcribe == {
        "purpose": "transcribe",
        "ready": False,
        "missing": [
            {
                "model": "moonshine-base",
                "title": transcribe["missing"][0]["title"],
                "licence": {"code": "MIT", "weights": "MIT"},
                "bytes": 64_997_466,
                "max_bytes": 64_997_466,
            }
        ],
        "reason": None,
        "model": None,
        "wordless": False,
    }
    assert (clone["purpose"], fit["purpose"]) == ("clone", "fit")
    if TORCH.installed:
        assert [each["model"] for each in clone["missing"]] == ["zipvoice_distill"]
        assert clone["missing"][0]["bytes"] is None
        assert clone["missing"][0]["max_bytes"] == manifest_named("zipvoice_distill").max_download_bytes
        assert [each["model"] for each in fit["missing"]] == ["kokoro", "campplus"]
    else:
        assert "PyTorch" in clone["reason"]
        assert "PyTorch" in fit["reason"]


async def test_a_server_that_clones_needs_no_further_model_for_it(tmp_path: Path) -> None:
    async with called(tone_service(CloneEngine(), models_dir=tmp_path, **LOCAL)) as client:
        found = (await client.get("/v1/pulls")).json()
    clone = next(need for need in found["data"] if need["purpose"] == "clone")
    assert (clone["ready"], clone["model"], clone["wordless"]) == (True, "tone", False)


async def test_a_model_is_fetched_by_name(fetched: list[str], tmp_path: Path) -> None:
    async with called(tone_service(models_dir=tmp_path, **LOCAL)) as client:
        answer = await client.post("/v1/pulls", json={"model": "campplus"})
        unknown = await client.post("/v1/pulls", json={"model": "../x"})
        cancelled = await client.delete("/v1/pulls")
        shown = (await client.get("/v1/pulls")).json()["pull"]
    assert (answer.status_code, answer.json()["model"], answer.json()["status"]) == (202, "campplus", "running")
    assert (unknown.status_code, error_of(unknown)["code"]) == (404, "model_not_found")
    assert cancelled.status_code == 200
    assert (shown["status"], fetched) == ("done", ["campplus"])


async def test_others_than_this_machine_fetch_nothing_unless_that_is_set(fetched: list[str]) -> None:
    closed = (
        {"host": "0.0.0.0", "insecure": True},
        {**LOCAL, "trusted_proxies": ["10.0.0.1"]},
        {**LOCAL, "allow_pull": False},
    )
    for settings in closed:
        async with called(tone_service(**settings)) as client:
            refused = await client.post("/v1/pulls", json={"model": "campplus"})
            assert not (await client.get("/v1/pulls")).json()["allowed"]
        assert (refused.status_code, error_of(refused)["code"]) == (403, "forbidden")
        assert "allow_pull" in error_of(refused)["message"]
    async with called(tone_service(host="0.0.0.0", insecure=True, allow_pull=True)) as client:
        assert (await client.post("/v1/pulls", json={"model": "campplus"})).status_code == 202
    assert fetched == ["campplus"]


async def test_a_page_of_another_site_fetches_nothing(fetched: list[str]) -> None:
    async with called(tone_service(**LOCAL)) as client:
        headers = {"Origin": "https://example.org", "Sec-Fetch-Site": "cross-site"}
        assert (await client.post("/v1/pulls", json={"model": "campplus"}, headers=headers)).status_code == 403
    assert fetched == []
