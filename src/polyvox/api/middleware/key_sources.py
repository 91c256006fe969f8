"""The places of a request in which a key may come, besides `Authorization: Bearer`."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers
from starlette.types import Scope

from polyvox.service.keys.keyring import BEARER_ADVICE


@dataclass(frozen=True, slots=True)
class KeySources:
    """Places where callers of some paths may put a bare key.

    A web page cannot set headers of a WebSocket, so sockets for pages take a key in the query or as a protocol. A page
    that sends it as a protocol has to offer a second one too: browsers drop a socket that answers with none of the
    protocols they offered, and an answer with the key would show it once more.
    """

    headers: tuple[str, ...] = ()
    """Headers whose whole value is the key."""
    queries: tuple[str, ...] = ()
    """Query parameters."""
    protocols: tuple[str, ...] = ()
    """Prefixes of a WebSocket protocol, the rest of which is the key, percent-encoded where it needs to be."""

    def __or__(self, other: "KeySources") -> "KeySources":
        """The places of both."""
        return KeySources(
            tuple(dict.fromkeys(self.headers + other.headers)),
            tuple(dict.fromkeys(self.queries + other.queries)),
            tuple(dict.fromkeys(self.protocols + other.protocols)),
        )

    def take(self, scope: Scope) -> bytes | None:
        """The key that a request was sent with; None where it was sent without, and empty where it cannot be read.

        What was in the query or among the protocols is removed, in place: neither the server's log nor an error then
        shows it, and a door finds only protocols that it may answer with. A bearer key goes before one in a header,
        that before one in the query, and that before a protocol.
        """
        headers = Headers(scope=scope)
        bare = [*self._in_headers(headers), *self._take_queries(scope), *self._take_protocols(scope)]
        authorization = headers.get("authorization", "")
        if (bearer := bearer_key(authorization)) is not None:
            return bearer.encode("latin-1")  # the bytes as they came: a header is read as Latin-1
        found = next((key for key in bare if key), None)
        return b"" if found is None and authorization else found

    def advice(self, scope: Scope) -> str:
        """Advice on how to send a key with a request like this one."""
        ways = [BEARER_ADVICE, *(f"in the header '{name}'" for name in self.headers)]
        ways += [f"as '?{name}=KEY'" for name in self.queries]
        if scope["type"] == "websocket":
            ways += [f"as the WebSocket protocol '{prefix}KEY' besides another" for prefix in self.protocols]
        return ways[0] if len(ways) == 1 else f"{', '.join(ways[:-1])} or {ways[-1]}"

    def _in_headers(self, headers: Headers) -> Iterable[bytes]:
        return [headers.get(name, "").strip().encode("latin-1") for name in self.headers]

    def _take_queries(self, scope: Scope) -> Iterable[bytes]:
        if not self.queries:
            return []
        parts = scope.get("query_string", b"").split(b"&")
        named = [(unquote_to_bytes(part.partition(b"=")[0]).decode("latin-1"), part) for part in parts]
        scope["query_string"] = b"&".join(part for name, part in named if name not in self.queries)
        # A plus stays one: keys in base64 hold some, and few callers encode them.
        return [unquote_to_bytes(part.partition(b"=")[2]) for name, part in named if name in self.queries]

    def _take_protocols(self, scope: Scope) -> Iterable[bytes]:
        if not self.protocols:
            return []
        offered: list[str] = scope.get("subprotocols") or []
        keys = [name for name in offered if name.startswith(self.protocols)]
        if keys:
            scope["subprotocols"] = [name for name in offered if name not in keys]
        prefixes = {name: next(each for each in self.protocols if name.startswith(each)) for name in keys}
        return [unquote_to_bytes(name.removeprefix(prefixes[name])) for name in keys]


def bearer_key(authorization: str) -> str | None:
    """The key in a value of `Authorization`; None where its scheme is another."""
    scheme, _, key = authorization.partition(" ")
    return key.strip() if scheme.lower() == "bearer" else None
