"""A Polyvox server, asked by the standard library alone."""

import http.client
import json
import socket
from collections.abc import Iterator
from urllib.parse import quote, urlsplit

from ._polyvox_utterance import Text

_TIMEOUT_SECONDS = 10.0
_PIECE_BYTES = 4800
"""A tenth of a second at 24 kHz: the most that is fed before a cancel is seen."""
_LONGEST_LIST = 4 * 2**20
_LONGEST_MESSAGE = 4096


class Server:
    """Its address, and what every request to it has."""

    SAMPLE_RATE = 24_000
    """The rate of raw speech where the server does not say another."""

    def __init__(self, address: str, key: str | None, model: str | None) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{address} is no address of a server; write it as http://127.0.0.1:8880")
        self._connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._host, self._port, self._path = parts.hostname, parts.port, parts.path.rstrip("/")
        self._key = key
        self._model = model

    def voices(self) -> list[dict[str, str]]:
        """The voices as rows of `id`, `title`, `language` and more; an error where the server does not answer."""
        path = "/v1/audio/voices" + (f"?model={quote(self._model, safe='')}" if self._model else "")
        connection = self._connection()
        try:
            connection.request("GET", self._path + path, headers=self._headers())
            response = connection.getresponse()
            raise_for_status(response)
            rows = json.loads(response.read(_LONGEST_LIST))["voices"]
        finally:
            connection.close()
        voices = [row | {"language": _locale(row["language"])} for row in rows if not row.get("reason")]
        if not voices:
            raise ValueError("the server has no voice that can speak")
        return voices

    def speech(self, text: Text) -> "Speech":
        """The speech of a text, not asked for yet."""
        body = {"input": text.text, "voice": text.voice, "speed": text.speed, "response_format": "pcm", "stream": True}
        if self._model:
            body["model"] = self._model
        headers = self._headers() | {"Content-Type": "application/json"}
        return Speech(self._connection(), f"{self._path}/v1/audio/speech", json.dumps(body).encode(), headers)

    def _connection(self) -> http.client.HTTPConnection:
        return self._connect(self._host, self._port, timeout=_TIMEOUT_SECONDS)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}


class Speech:
    """The samples of one text. `stop` may be called by another thread, and ends the iteration at once."""

    def __init__(self, connection: http.client.HTTPConnection, path: str, body: bytes, headers: dict[str, str]) -> None:
        self._connection = connection
        self._request = (path, body, headers)
        self._is_stopped = False
        self.sample_rate = Server.SAMPLE_RATE
        self.channels = 1

    def __iter__(self) -> Iterator[bytes]:
        path, body, headers = self._request
        self._connection.connect()
        if self._is_stopped:
            return
        try:
            self._connection.request("POST", path, body, headers)
            response = self._connection.getresponse()
            raise_for_status(response)
            self.sample_rate = int(response.getheader("x-audio-sample-rate") or Server.SAMPLE_RATE)
            self.channels = int(response.getheader("x-audio-channels") or 1)
            yield from self._frames(response)
        except http.client.HTTPException as error:
            raise OSError(f"the answer broke off: {error!r}") from error

    def _frames(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        """Whole frames, however the bytes arrive."""
        rest = b""
        while data := response.read1(_PIECE_BYTES):
            rest += data
            whole = len(rest) - len(rest) % (2 * self.channels)
            if whole:
                yield rest[:whole]
            rest = rest[whole:]

    def stop(self) -> None:
        """End it; the server sees that the connection is closed, and stops its work."""
        self._is_stopped = True
        if (connected := self._connection.sock) is not None:
            try:
                connected.shutdown(socket.SHUT_RDWR)
            except OSError:
                return  # it was closed meanwhile

    def close(self) -> None:
        """Give the connection back."""
        self._connection.close()


def raise_for_status(response: http.client.HTTPResponse) -> None:
    """Turn a refusal into an error with the server's own sentence."""
    if response.status != http.client.OK:
        message = response.read(_LONGEST_MESSAGE).decode("utf-8", "replace")
        raise ValueError(f"the server answered {response.status}: {message}")


def _locale(language: str) -> str:
    """A language as NVDA writes it: `en_US` for `en-us`."""
    name, _, region = language.partition("-")
    return f"{name}_{region.upper()}" if region else name
