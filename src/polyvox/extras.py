"""Extras of the package: the modules of each, the settings that need it, and the images that have it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec

from polyvox.container_image import this_image
from polyvox.errors import UnavailableError

CPU, CUDA = "cpu", "cuda"
IMAGES = (CPU, CUDA)
"""Targets of the Dockerfile."""


@dataclass(frozen=True, slots=True)
class Extra:
    """One of the package's optional dependency groups."""

    name: str
    title: str
    """The product that it installs, as people call it."""
    purpose: str
    modules: tuple[str, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings that need it, each with a value that does."""
    program: str = ""
    """A program of the system that does instead."""
    images: tuple[str, ...] = IMAGES
    """Targets of the Dockerfile that install it unless the builder chooses otherwise."""

    @property
    def installed(self) -> bool:
        """True if every module of it can be imported."""
        return all(map(_is_found, self.modules))

    @property
    def absence(self) -> str:
        """The sentence for whoever needs it where it is not installed."""
        return f"{self.title} is not installed; install it with: {install_hint(self.name)}"

    def check(self) -> None:
        """Raise `UnavailableError` with the remedy where it is not installed."""
        if not self.installed:
            raise UnavailableError(self.absence)


def install_hint(extras: str) -> str:
    """The commands that install extras (`a` or `a,b`) here, to be put into a sentence; no release exists yet."""
    if (image := this_image()) is not None:
        return image.build_hint(extras)
    return (
        f"pip install -e '.[{extras}]' in a checkout, or pip install 'WHEEL[{extras}]' with the path of a built wheel"
    )


def _is_found(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of a parent package
        return False


CLUSTER = Extra(
    "cluster",
    "The client of PostgreSQL and S3",
    "voices that several servers share",
    ("psycopg", "minio"),
    {"voice_database": "postgresql://db/polyvox", "voice_objects": "voices"},
)
ESPEAK = Extra(
    "espeak",
    "espeak-ng",
    "Spanish, French, Hindi, Italian and Portuguese; ZipVoice's English",
    ("espeakng_loader",),
    {"espeak": "espeak-ng"},
    program="espeak-ng",
)
GRANIAN = Extra("granian", "granian", "HTTP served by granian", ("granian",), {"server": "granian"})
GRPC = Extra("grpc", "gRPC", "the gRPC doors", ("grpc", "grpc_health", "grpc_reflection"), {"grpc_port": "50000"})
JAPANESE = Extra("ja", "The Japanese dictionary", "Japanese", ("fugashi", "unidic_lite"))
MCP = Extra("mcp", "MCP", "speech as tools for agents", ("mcp",), {"mcp": "true"})
OTEL = Extra(
    "otel",
    "OpenTelemetry",
    "traces",
    ("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http"),
    {"otlp_endpoint": "http://collector:4318"},
)
PLOT = Extra("plot", "matplotlib", "plots of `bench` and `eval`", ("matplotlib",), images=())
PROVENANCE = Extra(
    "provenance", "The library cryptography", "signed manifests", ("cryptography",), {"provenance": "signed"}
)
RAY = Extra("ray", "Ray Serve", "`serve --ray`", ("ray",), images=())
REDIS = Extra(
    "redis", "The client of Redis", "limits that several servers count", ("redis",), {"limits_url": "redis://r"}
)
TENSORRT = Extra("tensorrt", "TensorRT", "CosyVoice's exported graphs on TensorRT", ("tensorrt",), images=())
TORCH = Extra("torch", "PyTorch", "models that run in PyTorch", ("torch",), images=(CUDA,))
WYOMING = Extra("wyoming", "zeroconf", "Wyoming announced by mDNS", ("zeroconf",), {"wyoming_mdns": "true"})

EXTRAS = (CLUSTER, ESPEAK, GRANIAN, GRPC, JAPANESE, MCP, OTEL, PLOT, PROVENANCE, RAY, REDIS, TENSORRT, TORCH, WYOMING)
