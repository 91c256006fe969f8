import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpcore
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.forbidden_urls import FORBIDDEN_URLS
from helpers.tables import each_row
from polyvox.config import Settings
from polyvox.errors import FetchError, ForbiddenError, PolyvoxError, RequestTooLargeError, status_of
from polyvox.voices.recording.addresses import is_allowed, is_public, plain_host
from polyvox.voices.recording.fetch import Fetcher, direct, resolve

PUBLIC = "93.184.215.14"
PUBLIC6 = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"
AUDIO = b"RIFF and so on"


@dataclass
class Web:
    """A small internet: names with their addresses, what is found at each, and a record of who was asked."""

    names: dict[str, Sequence[str] | Callable[[int], Sequence[str]]] = field(default_factory=dict)
    pages: dict[str, httpx.Response | Callable[[], httpx.Response]] = field(default_factory=dict)
    lookups: list[str] = field(default_factory=list)
    requests: list[httpx.Request] = field(default_factory=list)

    async def resolve(self, name: str) -> Sequence[str]:
        self.lookups.append(name)
        answer = self.names.get(name)
        if answer is None:
            raise OSError("no such name")
        return answer(self.lookups.count(name)) if callable(answer) else answer

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        page = self.pages.get(f"{request.url.scheme}://{request.headers['host']}{request.url.path}")
        if page is None:
            raise httpx.ConnectError("nobody there")
        return page() if callable(page) else page

    def fetcher(self, **settings: object) -> Fetcher:
        chosen = Settings(**{"allow_fetch": True, "fetch_max_bytes": 2_048, "fetch_timeout_seconds": 2.0, **settings})
        return Fetcher(chosen, resolve=self.resolve, transport=lambda tls: httpx.MockTransport(self.answer))

    @property
    def asked(self) -> list[str]:
        return [request.url.host for request in self.requests]


def redirect(to: str, status: int = 302) -> httpx.Response:
    return httpx.Response(status, headers={"location": to})


def found(data: bytes) -> Callable[[], httpx.Response]:
    return lambda: httpx.Response(200, stream=httpx.ByteStream(data))


def streamed(*parts: bytes, pause: float = 0.0) -> Callable[[], httpx.Response]:
    async def content() -> AsyncIterator[bytes]:
        for part in parts:
            await asyncio.sleep(pause)
            yield part

    return lambda: httpx.Response(200, content=content())


@pytest.fixture
def web() -> Web:
    return Web(names={"voices.example": [PUBLIC]}, pages={"https://voices.example/a.wav": found(AUDIO)})


@pytest.mark.anyio
async def test_a_file_is_fetched_at_the_address_that_was_checked(web: Web) -> None:
    assert await web.fetcher().fetch("https://voices.example/a.wav?token=1#part") == AUDIO
    (request,) = web.requests
    assert web.lookups == ["voices.example"]
    assert str(request.url) == f"https://{PUBLIC}/a.wav?token=1#part"
    assert request.headers["host"] == "voices.example"
    assert request.extensions["sni_hostname"] == "voices.example"
    assert request.headers["accept-encoding"] == "identity"
    assert not {"cookie", "authorization", "referer"} & set(request.headers)


@pytest.mark.anyio
async def test_fetching_is_off_unless_allowed(web: Web) -> None:
    with pytest.raises(ForbiddenError, match="does not fetch"):
        await Fetcher(Settings(), resolve=web.resolve).fetch("https://voices.example/a.wav")
    assert web.lookups == []


@pytest.mark.anyio
async def test_plain_http_is_fetched_only_where_allowed(web: Web) -> None:
    web.pages["http://voices.example/a.wav"] = found(AUDIO)
    with pytest.raises(FetchError, match="must start with https://"):
        await web.fetcher().fetch("http://voices.example/a.wav")
    assert await web.fetcher(fetch_allow_http=True).fetch("http://voices.example/a.wav") == AUDIO


@pytest.mark.anyio
async def test_international_names_case_and_a_final_dot_are_understood(web: Web) -> None:
    web.names["xn--bcher-kva.example"] = [PUBLIC6]
    web.pages["https://xn--bcher-kva.example/a.wav"] = found(AUDIO)
    assert await web.fetcher().fetch("https://BÜCHER.example./a.wav") == AUDIO
    assert web.asked == [PUBLIC6]


@pytest.mark.anyio
async def test_the_next_address_is_tried_where_one_does_not_answer(web: Web) -> None:
    web.names["voices.example"] = [PUBLIC6, PUBLIC]
    answer = web.answer

    def one_is_down(request: httpx.Request) -> httpx.Response:
        response = answer(request)
        if request.url.host == PUBLIC6:
            raise httpx.ConnectTimeout("down")
        return response

    web.answer = one_is_down
    assert await web.fetcher().fetch("https://voices.example/a.wav") == AUDIO
    assert web.asked == [PUBLIC6, PUBLIC]


@pytest.mark.anyio
async def test_redirects_are_followed_and_each_host_is_checked(web: Web) -> None:
    web.names["cdn.example"] = [PUBLIC6]
    web.pages["https://voices.example/old"] = redirect("/new", 301)
    web.pages["https://voices.example/new"] = redirect("//cdn.example/x", 307)
    web.pages["https://cdn.example/x"] = redirect("https://voices.example/a.wav", 308)
    assert await web.fetcher().fetch("https://voices.example/old") == AUDIO
    assert web.lookups == ["voices.example", "voices.example", "cdn.example", "voices.example"]
    assert web.asked == [PUBLIC, PUBLIC, PUBLIC6, PUBLIC]


@pytest.mark.anyio
async def test_a_cookie_is_not_carried_onward(web: Web) -> None:
    web.pages["https://voices.example/old"] = httpx.Response(302, headers={"location": "/a.wav", "set-cookie": "a=b"})
    await web.fetcher().fetch("https://voices.example/old")
    assert "cookie" not in web.requests[1].headers


@pytest.mark.anyio
async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    heads: list[bytes] = []
    async with server(heads) as port, direct(ssl.create_default_context()) as transport:
        await transport.handle_async_request(httpx.Request("GET", f"http://127.0.0.1:{port}/a.wav"))
    assert heads[0].startswith(b"GET /a.wav HTTP/1.1")


@pytest.mark.anyio
@pytest.mark.parametrize("url", FORBIDDEN_URLS.values(), ids=FORBIDDEN_URLS)
async def test_an_address_that_means_harm_is_refused_before_any_connection(web: Web, url: str) -> None:
    with pytest.raises((FetchError, ForbiddenError)) as caught:
        await web.fetcher(fetch_allow_http=True).fetch(url)
    assert 400 <= status_of(caught.value).http < 500
    assert web.requests == []


# In a redirect, what is missing is taken from where it came from.
FORBIDDEN_REDIRECTS = {name: url for name, url in FORBIDDEN_URLS.items() if name not in ("no host", "no scheme")}


@pytest.mark.long
@pytest.mark.anyio
@pytest.mark.parametrize("url", FORBIDDEN_REDIRECTS.values(), ids=FORBIDDEN_REDIRECTS)
async def test_nor_is_it_reached_by_a_redirect(web: Web, url: str) -> None:
    web.pages["https://voices.example/one"] = redirect("https://voices.example/two")
    web.pages["https://voices.example/two"] = httpx.Response(302, headers=[(b"location", url.encode())])
    with pytest.raises(PolyvoxError) as caught:
        await web.fetcher(fetch_allow_http=True).fetch("https://voices.example/one")
    assert 400 <= status_of(caught.value).http < 500
    assert set(web.asked) == {PUBLIC}


@pytest.mark.anyio
@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["::1"],
        [PUBLIC, "10.0.0.1"],
        [PUBLIC6, "::ffff:169.254.169.254"],
        ["fe80::1%eth0"],
        [],
        ["what?"],
    ],
)
async def test_a_name_with_any_address_that_is_not_public_is_refused(web: Web, addresses: list[str]) -> None:
    web.names["voices.example"] = addresses
    with pytest.raises(FetchError, match="not on the public internet"):
        await web.fetcher().fetch("https://voices.example/a.wav")
    assert web.requests == []


@pytest.mark.anyio
async def test_an_answer_that_changes_after_the_check_changes_nothing(web: Web) -> None:
    web.names["voices.example"] = lambda times: [PUBLIC] if times == 1 else ["127.0.0.1"]
    assert await web.fetcher().fetch("https://voices.example/a.wav") == AUDIO
    assert web.asked == [PUBLIC]
    assert web.lookups == ["voices.example"]


@pytest.mark.anyio
async def test_an_answer_that_changes_between_redirects_is_checked_anew(web: Web) -> None:
    web.names["voices.example"] = lambda times: [PUBLIC] if times == 1 else ["169.254.169.254"]
    web.pages["https://voices.example/one"] = redirect("/a.wav")
    with pytest.raises(FetchError, match="not on the public internet"):
        await web.fetcher().fetch("https://voices.example/one")
    assert web.asked == [PUBLIC]


@pytest.mark.anyio
async def test_an_unknown_name_is_said_to_be_unknown(web: Web) -> None:
    with pytest.raises(FetchError, match="not known"):
        await web.fetcher().fetch("https://nobody.example/")


@pytest.mark.anyio
async def test_the_resolver_of_the_system_is_not_trusted_either() -> None:
    assert set(await resolve("localhost")) <= {"127.0.0.1", "::1"}
    fetcher = Fetcher(Settings(allow_fetch=True), resolve=lambda name: resolve("localhost"))
    with pytest.raises(FetchError, match="not on the public internet"):
        await fetcher.fetch("https://voices.example/a.wav")


HARMFUL_ANSWERS: dict[str, tuple[httpx.Response | Callable[[], httpx.Response], type[PolyvoxError], str]] = {
    "not found": (httpx.Response(404), FetchError, "status 404"),
    "a part": (httpx.Response(206, content=AUDIO), FetchError, "status 206"),
    "nothing": (httpx.Response(204), FetchError, "status 204"),
    "a redirect without an address": (httpx.Response(302), FetchError, "status 302"),
    "a redirect to itself": (redirect("/a.wav"), FetchError, "more than 3 times"),
    "a redirect to plain http": (redirect("http://voices.example/a.wav"), FetchError, "from https to http"),
    "a redirect to nonsense": (redirect("https://[::1"), FetchError, "not a valid URL"),
    "a redirect of endless length": (redirect("https://voices.example/" + "a" * 50_000), FetchError, "2048 characters"),
    "too many bytes": (streamed(*[bytes(1_000)] * 100_000), RequestTooLargeError, "2048 bytes"),
    "compressed bytes": (
        lambda: httpx.Response(
            200, headers={"content-encoding": "gzip"}, stream=httpx.ByteStream(b"\x1f\x8b" + bytes(100))
        ),
        FetchError,
        "compressed",
    ),
    "bytes that never end": (streamed(*[b"a"] * 100_000, pause=0.05), FetchError, r"within 0\.5 seconds"),
}


@pytest.mark.long
@pytest.mark.anyio
@pytest.mark.parametrize(("page", "error", "complaint"), HARMFUL_ANSWERS.values(), ids=HARMFUL_ANSWERS)
async def test_an_answer_that_means_harm_is_given_up(
    web: Web, page: httpx.Response, error: type[PolyvoxError], complaint: str
) -> None:
    web.pages["https://voices.example/a.wav"] = page
    with pytest.raises(error, match=complaint):
        await web.fetcher(fetch_allow_http=True, fetch_timeout_seconds=0.5).fetch("https://voices.example/a.wav")


@pytest.mark.anyio
@pytest.mark.parametrize("failure", [httpx.ReadError, httpx.RemoteProtocolError, httpx.ReadTimeout])
async def test_a_server_that_breaks_off_is_said_to(web: Web, failure: type[httpx.HTTPError]) -> None:
    def fail() -> httpx.Response:
        raise failure("broken")

    web.pages["https://voices.example/a.wav"] = fail
    with pytest.raises(FetchError, match="broke off"):
        await web.fetcher().fetch("https://voices.example/a.wav")


@pytest.mark.anyio
async def test_a_resolver_that_hangs_is_given_up(web: Web) -> None:
    async def hang(name: str) -> Sequence[str]:
        await asyncio.sleep(60)
        return [PUBLIC]

    fetcher = Fetcher(Settings(allow_fetch=True, fetch_timeout_seconds=0.2), resolve=hang)
    with pytest.raises(FetchError, match="within"):
        await fetcher.fetch("https://voices.example/a.wav")


@pytest.mark.anyio
async def test_only_hosts_on_the_list_are_asked_where_there_is_one(web: Web) -> None:
    web.names["other.example"] = [PUBLIC]
    web.pages["https://voices.example/away"] = redirect("https://other.example/a.wav")
    fetcher = web.fetcher(fetch_allow_hosts=["voices.example"])
    assert await fetcher.fetch("https://voices.example/a.wav") == AUDIO
    for url in ("https://other.example/a.wav", "https://voices.example/away", "https://voices.example.evil.example/"):
        with pytest.raises(ForbiddenError, match="that host"):
            await fetcher.fetch(url)
    assert "other.example" not in web.lookups


@pytest.mark.anyio
async def test_a_host_on_the_list_must_still_be_public(web: Web) -> None:
    web.names["voices.example"] = ["10.0.0.1"]
    with pytest.raises(FetchError, match="not on the public internet"):
        await web.fetcher(fetch_allow_hosts=["voices.example"]).fetch("https://voices.example/a.wav")


@each_row(
    ("entries", "host", "port", "allowed"),
    [
        ([], "a.example", 443, True),
        ([], "a.example", 8443, False),
        (["a.example"], "a.example", 443, True),
        (["A.Example"], "a.example", 443, True),
        (["a.example"], "a.example", 8443, False),
        (["a.example:8443"], "a.example", 8443, True),
        (["a.example:8443"], "a.example", 443, False),
        (["a.example:443"], "a.example", 443, True),
        (["a.example"], "b.a.example", 443, False),
        (["*.a.example"], "b.a.example", 443, True),
        (["*.a.example"], "c.b.a.example", 443, True),
        (["*.a.example"], "a.example", 443, False),
        (["*.a.example"], "evil-a.example", 443, False),
        (["*.a.example:8443"], "b.a.example", 8443, True),
        (["b.example", "a.example"], "a.example", 443, True),
        ([PUBLIC], PUBLIC, 443, True),
        ([f"[{PUBLIC6}]"], PUBLIC6, 443, True),
        ([f"[{PUBLIC6}]:8443"], PUBLIC6, 8443, True),
    ],
)
def test_the_list_says_which_hosts_and_ports(entries: list[str], host: str, port: int, allowed: bool) -> None:
    assert is_allowed(host, port, 443, entries) is allowed


@each_row("address", [PUBLIC, PUBLIC6, f"::ffff:{PUBLIC}", "64:ff9b::5db8:d70e", "8.8.8.8"])
def test_public_addresses_are_known_as_such(address: str) -> None:
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_an_address_is_as_public_in_ipv6_as_it_is_in_ipv4(address) -> None:
    number = int(address)
    assert is_public(f"::ffff:{address}") is is_public(str(address))
    assert is_public(f"64:ff9b::{number >> 16:x}:{number & 0xFFFF:x}") is is_public(str(address))


@given(st.text(max_size=40))
def test_no_host_whatever_raises_anything_but_a_refusal(text: str) -> None:
    try:
        host = plain_host(text)
    except FetchError:
        return
    assert host == plain_host(host)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for voices.example that nobody signed but its owner, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    key, chain = folder / "key.pem", folder / "chain.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=voices.example"
    subprocess.run(
        [*command.split(), "-addext", "subjectAltName=DNS:voices.example", "-keyout", str(key), "-out", str(chain)],
        check=True,
        capture_output=True,
    )
    return chain, key


def rerouted(seen: list[str], port: int) -> Callable[[ssl.SSLContext], httpx.AsyncBaseTransport]:
    """The real transport, whose connections all end at a port of this machine; where they were meant to go is noted."""

    class Backend(httpcore.AsyncNetworkBackend):
        async def connect_tcp(self, **meant: object) -> object:
            seen.append(meant["host"])
            return await httpcore.AnyIOBackend().connect_tcp("127.0.0.1", port)

    def make(tls: ssl.SSLContext) -> httpx.AsyncBaseTransport:
        transport = httpx.AsyncHTTPTransport(verify=tls, trust_env=False)
        transport._pool = httpcore.AsyncConnectionPool(ssl_context=tls, network_backend=Backend())
        return transport

    return make


@asynccontextmanager
async def server(heads: list[bytes], tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A server of this machine that notes the head of each request."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\n" + AUDIO)
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=tls)
    async with listening:
        yield listening.sockets[0].getsockname()[1]


def certified(certificate: tuple[Path, Path], names: list[str | None]) -> ssl.SSLContext:
    """The server's side of TLS, which notes the name that each client asks for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    context.sni_callback = lambda connection, name, _: names.append(name)
    return context


@pytest.mark.anyio
async def test_a_pinned_connection_is_still_made_to_the_name(certificate: tuple[Path, Path], web: Web) -> None:
    seen, names, heads = [], [], []
    web.names["other.example"] = [PUBLIC]
    async with server(heads, certified(certificate, names)) as port:
        make = rerouted(seen, port)

        def trusting(tls: ssl.SSLContext) -> httpx.AsyncBaseTransport:
            own = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # the fetcher's is shared with other tests
            own.verify_mode, own.check_hostname = tls.verify_mode, tls.check_hostname
            own.load_verify_locations(certificate[0])
            return make(own)

        fetcher = Fetcher(Settings(allow_fetch=True), resolve=web.resolve, transport=trusting)
        assert await fetcher.fetch("https://voices.example/a.wav") == AUDIO
        with pytest.raises(FetchError, match="No safe connection"):
            await fetcher.fetch("https://other.example/a.wav")
    assert seen == [PUBLIC, PUBLIC]
    assert names == ["voices.example", "other.example"]
    assert [head.lower().count(b"\r\nhost: voices.example\r\n") for head in heads] == [1]


@pytest.mark.anyio
async def test_a_certificate_that_nobody_vouches_for_is_refused(certificate: tuple[Path, Path], web: Web) -> None:
    seen, heads = [], []
    async with server(heads, certified(certificate, [])) as port:
        fetcher = Fetcher(Settings(allow_fetch=True), resolve=web.resolve, transport=rerouted(seen, port))
        with pytest.raises(FetchError, match="No safe connection"):
            await fetcher.fetch("https://voices.example/a.wav")
    assert heads == []
