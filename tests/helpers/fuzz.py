"""Requests made at random from a server's own OpenAPI document: some valid, most nearly, some not at all."""

import base64
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from helpers.hostile import SPEECH
from helpers.raw_requests import request_bytes

BOUNDARY = b"fuzz7c1f"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE")

ODD_TEXTS = (
    "", " ", "\0", "\x1b[2J", "\ud800", "\u202e", "\ufeff", "e" + "\u0301" * 400, "a" * 5_000, "9" * 300,
    "\U0001f600" * 99, "../../etc/passwd", "%00", "%s%n", "{{7*7}}", "' OR 1=1 --", "<script>", "af_heart+",
    "af_heart(2)+", "+" * 99, "af_heart(nan)+af_heart", "url+http://127.0.0.1/", "url+file:///etc/passwd",
    "base64+AA", "base64+%%%%", "data:,", "data:audio/wav;base64,", "[pause:1s]", "[pause:-1s]", "[pause:1e9s]",
    "[word](/fəˈniːm/)", "[](//)",
    "<speak>", "S1:", "1" * 40 + ".5 kg", "£1e400", "12/13/1999 25:61", "http://" + "a." * 60,
    "\r\nX: y", "none", "null", "true", "NaN",
)  # fmt: skip
ODD_NUMBERS = (
    "0", "-1", "1.5", "-0.0", "1e308", "1e999", "-1e999", "9223372036854775808", "1" * 400, "NaN", "Infinity", "1e-400",
)  # fmt: skip
ODD_JSON = (
    "null", "true", "[]", "{}", "[[]]", '[{"a":[1]}]', "[" * 150 + "]" * 150, "[" + "1," * 900 + "1]", '{"":{"":{}}}',
    '"\\ud83d"', '{"__proto__":1}', *ODD_NUMBERS,
)  # fmt: skip
ODD_BODIES = (
    b"", b" ", b"{", b"[]", b"null", b'"text"', b"\xff\xfe{\x00", b"\xef\xbb\xbf{}", b'{"input":"a","input":"b"}',
    b"\x00" * 64, b"[" * 50_000, b'{"input":' * 900, b"%" * 4_000, b"a=b&a=c", b"{}" * 9, b'{"input":"\xc3\x28"}',
    b'{"input": 1e9999999}',
)  # fmt: skip
ODD_TYPES = (
    b"", b"application/json", b"application/json; charset=utf-16", b"text/plain", b"application/x-www-form-urlencoded",
    b"multipart/form-data", b"multipart/form-data; boundary=", b"multipart/form-data; boundary=" + b"b" * 300,
    b"multipart/form-data; charset=latin-1; boundary=" + BOUNDARY, b"application/vnd.api+json", b"*/*",
    b"\xff\xff", b";;;", b"application/json" + b";a=b" * 99,
)  # fmt: skip
ODD_HEADERS = (
    (b"Origin", b"http://[::1"), (b"Origin", b"null"), (b"Origin", b"http://evil.example"), (b"Origin", b"\xff\xfe"),
    (b"Authorization", b"Bearer \xff"), (b"Authorization", b"Basic " + b"A" * 900), (b"Accept", b"\x80" * 40),
    (b"Accept-Language", b"q=" * 200), (b"X-Polyvox-Chunks", b"\xe9"), (b"X-Raw-Response", b"stream"),
    (b"Cookie", b"=;" * 300), (b"Expect", b"100-continue"), (b"Range", b"bytes=9-1"), (b"Content-Encoding", b"gzip"),
    (b"Accept", b"text/event-stream"),
    (b"X-Forwarded-For", b"' OR 1"), (b"Forwarded", b"for=\"[::1]\""), (b"X-Session-Id", b"../" * 40),
    (b"Upgrade", b"h2c"), (b"If-None-Match", b"*"),
)  # fmt: skip
WORDS = ("Hi.", "Hello there.", "One, two.", "Good morning, Dr. Smith.", "Ça va?", "你好。")


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path, as the document describes it."""

    path: str
    method: str
    content: Mapping[str, Any]
    parameters: tuple[Mapping[str, Any], ...]
    statuses: frozenset[int]


@dataclass(frozen=True, slots=True)
class FuzzedRequest:
    """A request on the wire; `operation` is None where the method is not one of the path's."""

    data: bytes
    path: str
    method: str
    operation: Operation | None


def operations(document: Mapping[str, Any]) -> list[Operation]:
    return [
        Operation(
            path,
            method.upper(),
            described.get("requestBody", {}).get("content", {}),
            tuple(described.get("parameters", ())),
            frozenset(int(status) for status in described["responses"]),
        )
        for path, methods in document["paths"].items()
        for method, described in methods.items()
    ]


class Fuzzer:
    """An endless supply of requests; the same seed gives the same ones."""

    def __init__(self, document: Mapping[str, Any], seed: int) -> None:
        self._schemas = document.get("components", {}).get("schemas", {})
        self._operations = operations(document)
        self._by_call = {(each.path, each.method): each for each in self._operations}
        self._chance = random.Random(seed)

    def requests(self, count: int) -> Iterator[FuzzedRequest]:
        for number in range(count):
            yield self._request(self._operations[number % len(self._operations)])

    def _request(self, operation: Operation) -> FuzzedRequest:
        method = self._chance.choice(METHODS) if self._one_in(20) else operation.method
        kind, body = self._body(operation)
        headers = [(b"Content-Type", kind)] if kind else []
        headers += [self._chance.choice(ODD_HEADERS) for _ in range(self._chance.randrange(3))]
        path, target = self._target(operation)
        wanted = operation if method == operation.method else self._by_call.get((operation.path, method))
        return FuzzedRequest(request_bytes(method, target, headers, body), path, method, wanted)

    def _target(self, operation: Operation) -> tuple[str, bytes]:
        path, query = operation.path, []
        for parameter in operation.parameters:
            if parameter["in"] == "path":
                name = self._chance.choice(("kokoro", "voice_0", "-", "\u00e9", "%", "a" * 300, "a b", "..;", "\ud800"))
                path = path.replace(f"{{{parameter['name']}}}", quote(name, safe="", errors="surrogatepass"))
            elif parameter["in"] == "query" and not self._one_in(3):
                values = SAMPLES.get(parameter["name"], ODD_TEXTS) if self._one_in(2) else ODD_NUMBERS
                query.append((parameter["name"], str(self._chance.choice(values))))
        if self._one_in(15):
            query.append((self._text(), self._text()))
        suffix = "?" + urlencode(query, errors="surrogatepass") if query else ""
        return path, (path + suffix).encode("ascii")

    def _body(self, operation: Operation) -> tuple[bytes, bytes]:
        if not operation.content:
            return (b"", b"") if not self._one_in(10) else (b"application/json", self._chance.choice(ODD_BODIES))
        if self._one_in(12):
            return self._chance.choice(ODD_TYPES), self._chance.choice(ODD_BODIES)
        kind = self._chance.choice(sorted(operation.content))
        fields = self._fields(operation.content[kind]["schema"])
        if kind == "multipart/form-data":
            whole = self._multipart(fields)
        elif self._one_in(12):
            kind, whole = "application/x-www-form-urlencoded", urlencode({name: str(text) for name, text in fields})
        else:
            whole = self._json(fields)
        data = whole if isinstance(whole, bytes) else whole.encode(errors="surrogatepass")
        if self._one_in(12):
            data = self._mangled(data)
        boundary = b"; boundary=" + BOUNDARY if kind == "multipart/form-data" else b""
        return (self._chance.choice(ODD_TYPES) if self._one_in(20) else kind.encode() + boundary), data

    def _fields(self, schema: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Names and values of an object, each value as JSON."""
        resolved = self._resolved(schema)
        required = resolved.get("required", ())
        fields = [
            (name, json.dumps(self._chance.choice(SAMPLES[name])) if name in SAMPLES else self._valid(described))
            for name, described in resolved.get("properties", {}).items()
            if name in required or self._one_in(3)
        ]
        for _ in range(self._chance.choice((0, 0, 1, 1, 2, 3))):
            index = self._chance.randrange(len(fields) + 1)
            name = (
                fields[index][0] if index < len(fields) else self._chance.choice(("", "extra", "input\0", "__class__"))
            )
            change = self._chance.randrange(4)
            if change == 0 and index < len(fields):
                del fields[index]
            elif change == 1:
                fields.append((name, self._odd()))
            else:
                fields = [(other, text) for other, text in fields if other != name] + [(name, self._odd())]
        return fields

    def _valid(self, schema: Mapping[str, Any]) -> str:
        """A value that fits the schema, or nearly."""
        resolved = self._resolved(schema)
        if options := resolved.get("anyOf") or resolved.get("oneOf"):
            return self._valid(self._chance.choice(options))
        if "enum" in resolved or "const" in resolved:
            return json.dumps(self._chance.choice(resolved.get("enum") or [resolved["const"]]))
        kind = resolved.get("type", "string")
        if kind == "object":
            return self._json(self._fields(resolved))
        if kind == "array":
            return (
                "[" + ",".join(self._valid(resolved.get("items", {})) for _ in range(self._chance.randrange(4))) + "]"
            )
        if kind in ("number", "integer"):
            low, high = resolved.get("minimum", 0), resolved.get("maximum", 4)
            return json.dumps(self._chance.randint(int(low), max(int(low), int(high))))
        return {"boolean": self._chance.choice(("true", "false")), "null": "null"}.get(
            kind, json.dumps(self._chance.choice(WORDS))
        )

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        name = schema.get("$ref", "").rpartition("/")[2]
        return self._schemas.get(name, {}) if name else schema

    def _json(self, fields: list[tuple[str, str]]) -> str:
        return "{" + ",".join(f"{json.dumps(name)}:{text}" for name, text in fields) + "}"

    def _multipart(self, fields: list[tuple[str, str]]) -> bytes:
        parts = []
        for name, text in fields:
            plain = json.loads(text) if text.startswith('"') else text
            is_file = "audio" in name or "wav" in name or self._one_in(30)
            extra, data = (
                (b'; filename="a.wav"', self._recording()) if is_file else (b"", plain.encode(errors="replace"))
            )
            title = name.encode(errors="replace").replace(b'"', b"%22")
            parts.append(b'Content-Disposition: form-data; name="%s"%s\r\n\r\n%s' % (title, extra, data))
        mark = b"--" + BOUNDARY
        return mark + b"\r\n" + (b"\r\n" + mark + b"\r\n").join(parts) + b"\r\n" + mark + b"--\r\n"

    def _recording(self) -> bytes:
        if self._one_in(8):
            return SPEECH
        return self._chance.choice((b"", b"RIFF", SPEECH[:30], self._chance.randbytes(200)))

    def _mangled(self, data: bytes) -> bytes:
        """Cut, with a byte changed, or with something put in."""
        if not data:
            return b"\xff"
        place = self._chance.randrange(len(data))
        return self._chance.choice(
            (data[:place], data[:place] + b"\x80" + data[place + 1 :], data[:place] + b"\0}" + data[place:])
        )

    def _odd(self) -> str:
        return json.dumps(self._text()) if self._one_in(2) else self._chance.choice(ODD_JSON)

    def _text(self) -> str:
        return self._chance.choice(ODD_TEXTS)

    def _one_in(self, count: int) -> bool:
        return self._chance.randrange(count) == 0


SAMPLES = {
    "voice": ("af_heart",),
    "model": ("kokoro", "kokoro", "kokoro", "tts-1", "cosyvoice3", "nobody"),
    "speaker": ("af_heart",),
    "voice_type": ("af_heart",),
    "spk_id": ("af_heart",),
    "response_format": ("pcm", "wav", "mp3", "opus", "flac", "aac"),
    "language": ("en-us", "zh"),
    "consent": (True,),
    "audio": (base64.b64encode(SPEECH[:2_000]).decode(), base64.b64encode(SPEECH).decode()),
}
"""Values without which a field's owner would never be reached."""
