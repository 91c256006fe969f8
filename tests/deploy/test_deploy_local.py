"""Ray Serve on this machine: ports and options checked before anything starts."""

import socket

import pytest

from helpers.fakes import ToneEngine, tone_catalog, tone_settings
from polyvox.deploy.local import free_port, serve_on_ray
from polyvox.errors import InvalidRequestError, UnavailableError


def test_a_port_in_use_is_reported_before_anything_starts():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UnavailableError, match=f"port {port}.*choose another"):
            serve_on_ray(tone_settings(port=port), tone_catalog(ToneEngine()))


def test_zero_means_any_free_port():
    assert free_port("127.0.0.1") > 0


def test_grpc_is_refused_rather_than_ignored():
    with pytest.raises(InvalidRequestError, match="Ray Serve has no gRPC here; remove the setting grpc_port"):
        serve_on_ray(tone_settings(grpc_port=0), tone_catalog(ToneEngine()))
