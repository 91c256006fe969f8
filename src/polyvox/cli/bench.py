"""`polyvox bench`: a server under load, the text front end alone, and the engine against the bare model."""

import asyncio
import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from polyvox.bench.dialect import Dialect
    from polyvox.bench.load import Load, LoadRun

JsonFile = Annotated[Path | None, typer.Option("--json", help="Also write everything measured to this file.")]


class Profile(StrEnum):
    """The defaults and the report of a load run."""

    PLAIN = "plain"
    SLO = "slo"


app = typer.Typer(help="Measure a server under load, or a part of Polyvox alone.", invoke_without_command=True)


@app.callback()
def bench(
    context: typer.Context,
    url: Annotated[str, typer.Option(help="Server to put under load.")] = "http://127.0.0.1:8880",
    dialect: Annotated[
        str, typer.Option(help="API that the server speaks: openai, cosyvoice, rayserve or grpc.")
    ] = "openai",
    profile: Annotated[
        Profile, typer.Option(help="slo: all requests at once, 50 by default; reports minimum to P99 of time and RTF.")
    ] = Profile.PLAIN,
    requests: Annotated[
        int | None, typer.Option("--requests", "-n", help="Requests in all; 32 by default, 50 with slo.")
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", "-c", help="Closed loop: requests at a time; 1 by default.")
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", "-r", help="Open loop: arrivals a second, in place of --concurrency.")
    ] = None,
    texts: Annotated[Path | None, typer.Option(help="File with one text on each line.")] = None,
    voice: Annotated[str | None, typer.Option(help="Voice to ask for; the default one unless set.")] = None,
    model: Annotated[str | None, typer.Option(help="Model to ask for; the default one unless set.")] = None,
    timeout: Annotated[float, typer.Option(help="Seconds after which one request counts as failed.")] = 120.0,
    prebuffer: Annotated[
        float, typer.Option(help="Seconds the simulated player waits after the first audio before it starts.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the arrivals and of the order of texts.")] = 0,
    api_key: Annotated[str | None, typer.Option(envvar="POLYVOX_API_KEY", help="Bearer key of the server.")] = None,
    json_file: JsonFile = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw the run into this PNG file.")] = None,
) -> None:
    if context.invoked_subcommand is not None:
        return
    from polyvox.bench.dialects import dialect_named
    from polyvox.bench.load import Load
    from polyvox.bench.plot import check_plottable
    from polyvox.bench.slo import REQUESTS
    from polyvox.bench.texts import texts_from
    from polyvox.client import server_address
    from polyvox.installation import load_settings

    if plot is not None:
        check_plottable(plot)
    slo = profile is Profile.SLO
    requests = (REQUESTS if slo else 32) if requests is None else requests
    concurrency = (requests if slo else 1) if concurrency is None else concurrency
    settings = load_settings()
    voice = voice or settings.default_voice
    model = model or (settings.default_model if dialect == "openai" else "")  # the others have a default of their own
    load = Load(texts_from(texts), voice, model, requests, concurrency, rate, timeout, prebuffer, seed)
    address, spoken = server_address(url, "url"), dialect_named(dialect)
    asked = f"model {model or 'by default'}, voice {voice or 'by default'}"
    print(f"Puts {address} under load: {requests} requests, {asked}. Ctrl-C stops it.", file=sys.stderr)
    run = asyncio.run(_run(load, spoken, address, api_key))
    _report(load, run, url, profile, json_file, plot)


@app.command()
def curve(
    at_once: Annotated[list[int] | None, typer.Argument(help="Streams at once; 1 4 16 64 unless given.")] = None,
    url: Annotated[str, typer.Option(help="Server to put under load.")] = "http://127.0.0.1:8880",
    dialect: Annotated[
        str, typer.Option(help="API that the server speaks: openai, cosyvoice, rayserve or grpc.")
    ] = "openai",
    texts: Annotated[Path | None, typer.Option(help="File with one text on each line.")] = None,
    voice: Annotated[str | None, typer.Option(help="Voice to ask for; the default one unless set.")] = None,
    model: Annotated[str | None, typer.Option(help="Model to ask for; the default one unless set.")] = None,
    timeout: Annotated[float, typer.Option(help="Seconds after which one request counts as failed.")] = 120.0,
    api_key: Annotated[str | None, typer.Option(envvar="POLYVOX_API_KEY", help="Bearer key of the server.")] = None,
    json_file: JsonFile = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw the curve into this PNG file.")] = None,
) -> None:
    """First audio and throughput of a server by the number of streams at once."""
    from rich.console import Console

    from polyvox.bench.curve import CurvePoint, as_table, requests_for, save_curve
    from polyvox.bench.dialects import dialect_named
    from polyvox.bench.load import Load
    from polyvox.bench.plot import check_plottable
    from polyvox.bench.report import summarize
    from polyvox.bench.texts import texts_from
    from polyvox.client import server_address
    from polyvox.installation import load_settings

    if plot is not None:
        check_plottable(plot)
    settings = load_settings()
    voice, model = voice or settings.default_voice, model or (settings.default_model if dialect == "openai" else "")
    address, spoken, read = server_address(url, "url"), dialect_named(dialect), texts_from(texts)
    loads = [Load(read, voice, model, requests_for(count), count, None, timeout) for count in at_once or (1, 4, 16, 64)]
    points = [
        CurvePoint(load.concurrency, summarize(asyncio.run(_run(load, spoken, address, api_key)))) for load in loads
    ]
    Console().print(as_table(points))
    if json_file is not None:
        json_file.write_text(json.dumps([point.as_json() for point in points], indent=2), encoding="utf-8")
    if plot is not None:
        save_curve(points, f"{address}, {model or 'its default model'}", plot)
    if not any(point.summary.ok for point in points):
        raise typer.Exit(1)


@app.command()
def text(
    rounds: Annotated[int, typer.Option(min=1, max=10_000, help="How often each text is measured.")] = 25,
    json_file: JsonFile = None,
) -> None:
    """Start-up and latency of the text normaliser and the phonemiser, for English and Chinese."""
    from dataclasses import asdict

    from rich.console import Console

    from polyvox.bench.text import as_table, bench_text
    from polyvox.installation import load_settings

    figures = list(bench_text(rounds, load_settings().espeak))
    Console().print(as_table(figures))
    if json_file is not None:
        json_file.write_text(json.dumps([asdict(row) for row in figures], indent=2), encoding="utf-8")


@app.command()
def engine(
    rounds: Annotated[int, typer.Option(min=1, max=1_000, help="Rounds of server against bare model.")] = 5,
    requests: Annotated[
        int, typer.Option(min=10, max=100_000, help="Requests to the engine that costs nothing.")
    ] = 200,
    models_dir: Annotated[Path | None, typer.Option(help="Folder of installed models.")] = None,
    json_file: JsonFile = None,
) -> None:
    """The server's cost against the bare model, its first audio, and its overhead; fails where a limit is missed."""
    from dataclasses import asdict

    from rich.console import Console

    from polyvox.bench.engine import as_table, bench_engine
    from polyvox.installation import load_settings
    from polyvox.service.telemetry.logs import configure_logging

    settings = load_settings(models_dir=models_dir, log_level="warning")
    configure_logging(settings)
    with Console(stderr=True).status("") as status:
        checks = bench_engine(settings, rounds, requests, status.update)
    Console().print(as_table(checks))
    if json_file is not None:
        rows = [asdict(check) | {"passed": check.passed} for check in checks]
        json_file.write_text(json.dumps(rows, indent=2), encoding="utf-8")
    if not all(check.passed for check in checks):
        raise typer.Exit(1)


@app.command()
def servers(
    rounds: Annotated[int, typer.Option(min=1, max=1_000, help="Rounds of each server by turns.")] = 5,
    requests: Annotated[int, typer.Option(min=8, max=100_000, help="Requests of one round, one after another.")] = 200,
    json_file: JsonFile = None,
) -> None:
    """uvicorn, granian and gRPC side by side, with an engine that costs nothing."""
    _check_servers_installed()
    from rich.console import Console

    from polyvox.bench.servers import as_table, bench_servers

    with Console(stderr=True).status("") as status:
        figures = bench_servers(rounds, requests, status.update)
    Console().print(as_table(figures))
    if json_file is not None:
        json_file.write_text(json.dumps([row.as_json() for row in figures], indent=2), encoding="utf-8")


@app.command(hidden=True)
def null_server(
    server: Annotated[str, typer.Option(help="uvicorn or granian.")] = "uvicorn",
    grpc_port: Annotated[int | None, typer.Option(help="Port for gRPC; 0: any free.")] = None,
) -> None:
    """A server whose engine costs nothing, to measure the server's own cost."""
    from polyvox.bench.null import NullEngine
    from polyvox.installation import load_settings
    from polyvox.server.process import run_server

    null = {"models": ["null"], "default_model": "null", "default_voice": "null", "max_sessions": 256}
    settings = load_settings(host="127.0.0.1", port=0, server=server, grpc_port=grpc_port, **null)
    run_server(settings, {"null": NullEngine})


def _check_servers_installed() -> None:
    from polyvox.errors import UnavailableError
    from polyvox.extras import GRANIAN, GRPC, install_hint

    if missing := [extra.title for extra in (GRANIAN, GRPC) if not extra.installed]:
        raise UnavailableError(
            f"This compares servers, of which {' and '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not installed; run: {install_hint('granian,grpc')}."
        )


async def _run(load: "Load", dialect: "Dialect", url: str, api_key: str | None) -> "LoadRun":
    from polyvox.bench.load import run_load
    from polyvox.bench.report import describe
    from polyvox.cli.progress import counted_progress

    with counted_progress(describe(load), load.requests) as advance:
        return await run_load(load, dialect, url, api_key=api_key, on_sample=lambda _: advance())


def _report(
    load: "Load", run: "LoadRun", url: str, profile: Profile, json_file: Path | None, plot: Path | None
) -> None:
    from rich.console import Console

    from polyvox.bench.plot import save_plot
    from polyvox.bench.report import as_json, as_table, describe, summarize
    from polyvox.bench.slo import slo_report

    summary = summarize(run)
    console = Console()
    console.print(f"{describe(load)}, against {url}", markup=False, highlight=False)
    console.print(as_table(load, summary))
    if profile is Profile.SLO:
        console.print(slo_report(run), markup=False, highlight=False)
    if json_file is not None:
        document = json.dumps(as_json(load, run, summary, url), indent=2, ensure_ascii=False)
        json_file.write_text(document, encoding="utf-8")
    if plot is not None:
        save_plot(load, run, summary, plot)
    if not summary.ok:
        raise typer.Exit(1)
