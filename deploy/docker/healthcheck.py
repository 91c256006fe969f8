"""Exit with 0 if the server of this container can speak; the image's HEALTHCHECK, without curl."""

import os
import ssl
import sys
import urllib.request
from http.client import RemoteDisconnected

TIMEOUT_SECONDS = 4.0


def ready_url(scheme: str) -> str:
    """The address of `/ready`, by the settings in the environment."""
    host = os.environ.get("POLYVOX_HOST", "")
    if host in ("", "0.0.0.0", "::"):  # noqa: S104 - every address of the container includes loopback
        host = "127.0.0.1"
    if ":" in host:
        host = f"[{host}]"
    return f"{scheme}://{host}:{os.environ.get('POLYVOX_PORT') or 8880}/ready"


def main() -> None:
    """Ask once. The certificate is that of a public name and not of loopback, so it is not checked."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        try:
            url = ready_url("https" if os.environ.get("POLYVOX_SSL_CERTFILE") else "http")
            opener.open(url, timeout=TIMEOUT_SECONDS).close()
        except RemoteDisconnected:  # by one that serves TLS: `serve --tls auto` needs no variable
            url = ready_url("https")
            opener.open(url, timeout=TIMEOUT_SECONDS).close()
    except OSError as error:
        sys.exit(f"{url}: {error}")


if __name__ == "__main__":
    main()
