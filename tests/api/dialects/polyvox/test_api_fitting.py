"""`/v1/voices/fit`: a fit is asked for, watched, cancelled, and ends as a voice."""

import asyncio
import base64
from contextlib import asynccontextmanager

import httpx
import pytest

from helpers.cloning import Studio, opened, sample
from helpers.scripted_fits import ScriptedFits, fitting_service
from helpers.serving import error_of
from polyvox.api.app import create_app
from polyvox.errors import PromptError

pytestmark = pytest.mark.anyio

FIELDS = {"name": "Anna", "consent": True, "audio": base64.b64encode(sample(1)).decode()}


@asynccontextmanager
async def door(folder, script: ScriptedFits, **settings):
    async with opened(Studio(folder, **settings)) as studio:
        fits = fitting_service(studio.speech.settings, studio.voices, script)
        app = create_app(studio.speech, studio.voices, fits)
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://door") as client:
            yield client
        await fits.close()


async def until(client: httpx.AsyncClient, fit_id: str, status: str, **options) -> dict:
    for _ in range(500):
        fit = (await client.get(f"/v1/voices/fit/{fit_id}", **options)).json()
        if fit["status"] == status:
            return fit
        await asyncio.sleep(0.01)
    raise AssertionError(fit)


async def test_a_fit_is_accepted_at_once_and_ends_as_a_voice(tmp_path):
    script = ScriptedFits(waiting=True)
    async with door(tmp_path, script) as client:
        response = await client.post("/v1/voices/fit", json=FIELDS | {"seed": 5, "consent_note": "On paper."})
        assert response.status_code == 202, response.text
        fit = response.json()
        assert (fit["object"], fit["status"], fit["name"], fit["voice"]) == ("voice.fit", "queued", "Anna", None)
        running = await until(client, fit["id"], "running")
        assert running["progress"] < 1
        script.go.set()
        done = await until(client, fit["id"], "done")
        assert (done["progress"], done["similarity"], done["error"], script.seeds) == (1.0, 0.6, None, [5])
        voice = (await client.get(f"/v1/voices/{done['voice']['id']}")).json()
        assert (voice["name"], voice["consent"], voice["consent_note"]) == ("Anna", True, "On paper.")
        assert voice["quality"]["fitted"]["similarity"] == 0.6
        assert "offset" not in voice["quality"]["fitted"]
        listed = (await client.get("/v1/voices/fit")).json()["data"]
        assert [job["id"] for job in listed] == [fit["id"]]


async def test_a_form_is_as_good(tmp_path):
    async with door(tmp_path, ScriptedFits()) as client:
        response = await client.post(
            "/v1/voices/fit", data={"name": "Anna", "consent": "true"}, files={"audio": ("a.wav", sample(1))}
        )
        assert response.status_code == 202, response.text
        await until(client, response.json()["id"], "done")


async def test_deleting_a_fit_ends_it_and_leaves_no_voice(tmp_path):
    script = ScriptedFits(waiting=True)
    async with door(tmp_path, script) as client:
        fit = (await client.post("/v1/voices/fit", json=FIELDS)).json()
        await until(client, fit["id"], "running")
        response = await client.delete(f"/v1/voices/fit/{fit['id']}")
        assert (response.status_code, response.json()["status"]) == (200, "cancelled")
        assert script.open == 0
        assert (await client.get("/v1/voices")).json()["data"] == []


@pytest.mark.parametrize(
    ("changes", "status", "field"),
    [
        ({"consent": False}, 400, "consent"),
        ({"consent": None}, 400, "consent"),
        ({"consent": "certainly"}, 400, "consent"),
        ({"name": ""}, 400, "name"),
        ({"name": "a/b"}, 400, "name"),
        ({"audio": ""}, 400, "audio"),
        ({"audio": base64.b64encode(b"noise").decode()}, 400, "audio"),
        ({"audio": "!"}, 400, "audio"),
        ({"seed": -1}, 400, "seed"),
        ({"seed": 2**70}, 400, "seed"),
    ],
)
async def test_what_cannot_be_is_refused_by_field(tmp_path, changes, status, field):
    async with door(tmp_path, ScriptedFits()) as client:
        response = await client.post("/v1/voices/fit", json=FIELDS | changes)
        assert (response.status_code, error_of(response)["param"]) == (status, field), response.text
        assert (await client.get("/v1/voices/fit")).json()["data"] == []


async def test_too_many_fits_are_refused_with_a_retry_time(tmp_path):
    async with door(tmp_path, ScriptedFits(waiting=True), max_fits=1) as client:
        await client.post("/v1/voices/fit", json=FIELDS)
        response = await client.post("/v1/voices/fit", json=FIELDS | {"name": "Berta"})
        assert response.status_code == 429
        assert int(response.headers["retry-after"]) > 0


async def test_a_failed_fit_says_why(tmp_path):
    async with door(tmp_path, ScriptedFits(error=PromptError("Too noisy."))) as client:
        fit = (await client.post("/v1/voices/fit", json=FIELDS)).json()
        failed = await until(client, fit["id"], "failed")
        assert (failed["error"]["message"], failed["error"]["code"]) == ("Too noisy.", "invalid_prompt")


async def test_keys_see_their_own_fits_alone(tmp_path):
    keys = {key: {"Authorization": f"Bearer {key}"} for key in ("one", "two")}
    async with door(tmp_path, ScriptedFits(waiting=True), api_keys=list(keys)) as client:
        fit = (await client.post("/v1/voices/fit", json=FIELDS, headers=keys["one"])).json()
        path = f"/v1/voices/fit/{fit['id']}"
        assert (await client.get(path, headers=keys["one"])).status_code == 200
        for ask in (client.get, client.delete):
            assert (await ask(path, headers=keys["two"])).status_code == 404
        assert (await client.get("/v1/voices/fit", headers=keys["two"])).json()["data"] == []
        assert (await client.get("/v1/voices/fit")).status_code == 401
