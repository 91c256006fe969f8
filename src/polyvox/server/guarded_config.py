"""Uvicorn's configuration with what its guarded protocols share: limits on connections, and memory for bodies."""

import asyncio
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from polyvox.api.middleware.size_limit import largest_message
from polyvox.server.connection_limits import ConnectionLimits, LimitReports
from polyvox.server.server_log import install_filters
from polyvox.service.keys.client_addresses import ClientAddresses
from polyvox.service.speech import SpeechService


class GuardedConfig(uvicorn.Config):
    """Uvicorn's configuration, and what the guarded protocols share."""

    def __init__(
        self,
        app: ASGIApp,
        service: SpeechService,
        descriptors: int,
        *,
        http: type[asyncio.Protocol],
        ws: type[asyncio.Protocol],
        **options: Any,  # noqa: ANN401 - uvicorn's own
    ) -> None:
        settings = service.settings
        trusted = [str(network) for network in settings.trusted_proxies]
        super().__init__(
            app,
            http=http,
            ws=ws,
            ws_max_size=largest_message(settings),  # messages are buffered before the application can count them
            ws_per_message_deflate=False,  # audio does not shrink, and each socket would keep 300 KB for it
            timeout_keep_alive=settings.keep_alive_seconds,  # type: ignore[arg-type]  # passed on to the event loop
            forwarded_allow_ips=["127.0.0.1", "::1", *trusted] if trusted else None,
            **options,
        )
        self.reports = LimitReports(service.metrics)
        self.connections = ConnectionLimits(settings, self.reports, descriptors, service.open_counts)
        self.bodies = service.bodies
        self.clients = ClientAddresses(settings.trusted_proxies)
        self.max_header_bytes = settings.max_header_bytes
        self.header_seconds = settings.header_timeout_seconds
        self.stall_seconds = settings.stall_seconds
        service.metrics.watch_connections(lambda: self.connections.count)
        install_filters()
