"""`polyvox serve`: the server."""

import sys
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyvox.errors import InvalidRequestError

if TYPE_CHECKING:
    from polyvox.config import Settings
    from polyvox.engines.catalog import Catalog


class TlsChoice(StrEnum):
    """Ways to get a certificate without naming one."""

    AUTO = "auto"


def serve(
    host: Annotated[str | None, typer.Option(help="Address to bind; 127.0.0.1 unless set.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", "-p", help="Port to bind; 8880 unless set, 0: any free.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option("--model", "-m", help="Model to load; give it again for more.")
    ] = None,
    models_dir: Annotated[Path | None, typer.Option(help="Folder of installed models.")] = None,
    model_dir: Annotated[
        Path | None,
        typer.Option(
            "--model_dir",
            "--model-dir",
            envvar=["COSYVOICE_MODEL_DIR", "COSYVOICE_MODEL_ID"],
            help="The default model: a folder with its files, or its repository on Hugging Face or ModelScope.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(help="Processes of doors, before one process with the models; 1 unless set: all in one process."),
    ] = None,
    server: Annotated[str | None, typer.Option(help="uvicorn or granian; uvicorn unless set.")] = None,
    ssl_certfile: Annotated[
        Path | None, typer.Option(help="Certificate chain in PEM format, for https and wss; plain HTTP unless set.")
    ] = None,
    ssl_keyfile: Annotated[
        Path | None, typer.Option(help="Its private key; a password goes into POLYVOX_SSL_KEYFILE_PASSWORD.")
    ] = None,
    tls: Annotated[
        TlsChoice | None,
        typer.Option(help="auto: https and wss with a certificate of the server's own, for clients on this machine."),
    ] = None,
    grpc_port: Annotated[int | None, typer.Option(help="Port for gRPC, 0: any free; no gRPC unless set.")] = None,
    wyoming_port: Annotated[
        int | None, typer.Option(help="Port for Wyoming (Home Assistant), 0: any free; no Wyoming unless set.")
    ] = None,
    wyoming_host: Annotated[str | None, typer.Option(help="Address for Wyoming; 127.0.0.1 unless set.")] = None,
    wyoming_allow_without_key: Annotated[
        bool, typer.Option("--wyoming-allow-without-key", help="Let other machines use Wyoming, which knows no keys.")
    ] = False,
    max_conc: Annotated[int | None, typer.Option("--max_conc", "--max-conc", help="Concurrent gRPC calls.")] = None,
    grpc: Annotated[
        bool, typer.Option("--grpc", help="--port is the gRPC port, as for CosyVoice's server; 50000 unless set.")
    ] = False,
    fp16: Annotated[
        bool, typer.Option("--fp16", help="Run the default model in 16-bit floats where it has a GPU.")
    ] = False,
    load_jit: Annotated[bool, typer.Option("--load_jit", "--load-jit", hidden=True)] = False,
    load_trt: Annotated[bool, typer.Option("--load_trt", "--load-trt", hidden=True)] = False,
    load_vllm: Annotated[bool, typer.Option("--load_vllm", "--load-vllm", hidden=True)] = False,
    trt_concurrent: Annotated[int | None, typer.Option("--trt_concurrent", "--trt-concurrent", hidden=True)] = None,
    ray: Annotated[bool, typer.Option("--ray", help="Run each model in processes of its own, on Ray Serve.")] = False,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Let other machines call without a key, by any host name.")
    ] = False,
    log_level: Annotated[str | None, typer.Option(help="debug, info, warning or error.")] = None,
) -> None:
    """Serve speech over HTTP, and over gRPC and Wyoming where they have a port."""
    from polyvox.runtime.garbage import lasting_imports

    with lasting_imports():
        from polyvox.cli.serve.foreign_options import (
            grpc_ports,
            http_beside_grpc,
            in_half_precision,
            name_tensorrt,
            name_without_effect,
        )
        from polyvox.cli.serve.model_folder import fetched, is_repository, settings_for
        from polyvox.engines.catalog import Catalog
        from polyvox.installation import settings_loader

    catalog = Catalog.installed()
    given: dict[str, Any] = {
        "host": host,
        "port": port,
        "models": model or None,
        "models_dir": models_dir,
        "log_level": log_level,
    }
    given |= {"ssl_certfile": ssl_certfile, "ssl_keyfile": ssl_keyfile}
    given |= {
        "workers": workers,
        "server": server,
        "grpc_port": grpc_port,
        "grpc_max_calls": max_conc,
        "insecure": insecure or None,
    }
    given |= {
        "wyoming_port": wyoming_port,
        "wyoming_host": wyoming_host,
        "wyoming_allow_without_key": wyoming_allow_without_key or None,
    }
    if grpc:
        given |= grpc_ports(port, grpc_port)
    name_without_effect({"--load_jit": load_jit, "--load_vllm": load_vllm, "--trt_concurrent": trt_concurrent})
    loader = settings_loader(catalog)
    if model_dir is not None and is_repository(model_dir):
        given |= fetched(str(model_dir), catalog, loader.load(**given), besides=model or ())
    elif model_dir is not None:
        given |= settings_for(model_dir, catalog, besides=model or ())
    settings = loader.load(**given)
    if tls is TlsChoice.AUTO:
        settings = _with_own_certificate(settings)
    if model and model_dir is None and settings.default_model not in model:
        settings = settings.model_copy(update={"default_model": model[0]})
    if grpc:
        settings = http_beside_grpc(settings)
    if fp16:
        settings = in_half_precision(settings, catalog)
    if load_trt:
        name_tensorrt(settings, catalog)
    _check_grpc(settings, max_conc, ray=ray)
    _run(settings, catalog, ray=ray)


def _run(settings: "Settings", catalog: "Catalog", *, ray: bool) -> None:
    """Serve in this process, in several, or on Ray."""
    absence = partial(catalog.absence, settings=settings)
    outline = partial(catalog.outline, settings=settings)
    if ray:
        from polyvox.deploy.local import serve_on_ray

        serve_on_ray(settings, catalog)
    elif settings.workers > 1:
        from polyvox.deploy.workers.parts import ServerParts
        from polyvox.deploy.workers.supervisor import serve_with_workers

        serve_with_workers(settings, ServerParts(catalog.factories, absence, outline))
    else:
        from polyvox.server.process import run_server

        run_server(settings, catalog.factories, absence, outline)


def _with_own_certificate(settings: "Settings") -> "Settings":
    """The settings with a certificate of the server's own; the user is told how clients trust it."""
    from polyvox.server.own_certificate import own_certificate

    if settings.ssl_certfile is not None:
        raise InvalidRequestError("--tls auto makes a certificate; leave out ssl_certfile, or --tls.", field="tls")
    made = own_certificate(settings.data_dir / "tls")
    print(made.trust_steps, file=sys.stderr)
    return settings.model_copy(update={"ssl_certfile": made.chain, "ssl_keyfile": made.key})


def _check_grpc(settings: "Settings", max_conc: int | None, *, ray: bool) -> None:
    """Refuse options that would be ignored."""
    if max_conc is not None and settings.grpc_port is None:
        raise InvalidRequestError(
            "--max_conc limits gRPC calls; in place of --port, give the gRPC port with --grpc-port, or add --grpc.",
            field="max_conc",
        )
    if ray and settings.ssl_certfile is not None:
        raise InvalidRequestError(
            "Ray Serve brings its own HTTP server; leave out --ssl-certfile, and put a proxy with TLS in front.",
            field="ray",
        )
    if ray and settings.workers > 1:
        raise InvalidRequestError(
            "Ray Serve has processes of its own; leave out --workers, and set ray_ingress_replicas.", field="ray"
        )
    if ray and settings.wyoming_port is not None:
        raise InvalidRequestError("Ray Serve brings no Wyoming; leave out --wyoming-port.", field="ray")
    if ray and (settings.grpc_port is not None or settings.server != "uvicorn"):
        raise InvalidRequestError(
            "Ray Serve brings its own HTTP server and no gRPC; leave out --grpc-port and --server.", field="ray"
        )
