"""The jobs door for the tests: the app with its lifespan, called in process, and waits for what jobs become."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from helpers.fakes import ToneEngine, tone_service
from polyvox.api.app import create_app
from polyvox.service.jobs.service import JobService
from polyvox.service.keys.accounts import Accounts
from polyvox.service.speech import SpeechService

RESTING = ("done", "paused", "failed", "cancelled")
SECONDS = 20.0


class JobClient:
    """A caller of `/v1/jobs`."""

    def __init__(self, http: httpx.AsyncClient, app: FastAPI, engine: ToneEngine) -> None:
        self.http = http
        self.engine = engine
        self.service: JobService = app.state.jobs
        self.speech: SpeechService = app.state.service
        self.accounts: Accounts = self.speech.accounts

    async def submitted(self, text: str = "One. Two.", **fields: Any) -> dict[str, Any]:
        """A new job; what is sent at once with a form goes to `submit` itself."""
        headers = fields.pop("headers", {})
        answer = await self.http.post("/v1/jobs", json={"text": text, **fields}, headers=headers)
        assert answer.status_code == 202, answer.text
        return answer.json()

    async def rested(self, job_id: str, **options: Any) -> dict[str, Any]:
        """The job when nothing works on it any more."""
        return await self.until(job_id, lambda job: job["status"] in RESTING, **options)

    async def until(self, job_id: str, holds: Callable[[dict[str, Any]], bool], **options: Any) -> dict[str, Any]:
        async with asyncio.timeout(SECONDS):
            while not holds(job := (await self.http.get(f"/v1/jobs/{job_id}", **options)).json()):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        return job


@asynccontextmanager
async def job_client(folder: Path, engine: ToneEngine | None = None, **settings: Any) -> AsyncIterator[JobClient]:
    """A server whose jobs lie in a folder; it is closed as a server is."""
    chosen = ToneEngine(chunks=1, chunk_seconds=0.05) if engine is None else engine
    app = create_app(tone_service(chosen, **{"jobs_folder": folder, "job_min_free_bytes": 0} | settings))
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://door") as http,
    ):
        yield JobClient(http, app, chosen)
