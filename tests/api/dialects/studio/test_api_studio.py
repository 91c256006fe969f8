"""The Studio's page and its files, as the server sends them."""

import gzip
import re

import pytest

from helpers.fakes import tone_service
from helpers.serving import called, error_of
from helpers.tables import each_row

pytestmark = pytest.mark.anyio

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
ASSET = re.compile(r'(?:src|href)="\./(web/assets/[^"]+)"')


@each_row("path", ["/", "/web"])
async def test_browsers_get_the_page_without_a_key(path):
    async with called(tone_service(api_keys=["secret"]), headers=BROWSER) as client:
        page = await client.get(path)
        files = [await client.get(f"/{name}") for name in ASSET.findall(page.text)]
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "Polyvox Studio" in page.text
    assert [file.status_code for file in files] == [200] * 3
    assert {file.headers["content-type"].split(";")[0] for file in files} == {
        "text/javascript",
        "text/css",
        "image/svg+xml",
    }
    assert all("immutable" in file.headers["cache-control"] for file in files)


@pytest.mark.long
async def test_a_setting_closes_it_and_nothing_else():
    async with called(tone_service(studio=False), headers=BROWSER) as client:
        answers = [await client.get(path) for path in ("/web", "/web/", "/web/index/")]
        index, docs = await client.get("/"), await client.get("/docs")
    assert [answer.status_code for answer in answers] == [404] * 3
    assert index.json()["speech"] == "/v1/audio/speech"
    assert docs.status_code == 200


@each_row("accept", ["*/*", "application/json", "application/json, text/plain, */*", ""])
async def test_programs_get_the_list_of_paths(accept):
    async with called(tone_service(), headers={"Accept": accept}) as client:
        answer = await client.get("/")
    assert answer.json()["speech"] == "/v1/audio/speech"


async def test_the_address_with_a_slash_leads_to_the_page():
    async with called(tone_service(), headers=BROWSER, follow_redirects=True) as client:
        page = await client.get("/web/")
    assert page.url.path == "/web"
    assert "Polyvox Studio" in page.text


async def test_the_policy_allows_only_this_server_and_a_nonce_that_no_other_page_has():
    async with called(tone_service(), headers=BROWSER) as client:
        pages = [await client.get("/web") for _ in range(2)]
    policies = [page.headers["content-security-policy"] for page in pages]
    nonces = [re.search(r"'nonce-([\w-]{20,})'", policy)[1] for policy in policies]
    assert nonces[0] != nonces[1]
    assert all(nonce in page.text and "__NONCE__" not in page.text for nonce, page in zip(nonces, pages, strict=True))
    assert policies[0].startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in policies[0]
    assert "http" not in policies[0]


@each_row("name", ["nothing.js", "..%2Findex.html", "index.html", "%00"])
async def test_nothing_but_the_pages_files_is_sent(name):
    async with called(tone_service()) as client:
        refused = await client.get(f"/web/assets/{name}")
    assert refused.status_code == 404
    assert error_of(refused)


@each_row(
    ("accepted", "encoding"),
    [("gzip, br", "gzip"), ("gzip;q=0.5", "gzip"), ("br", None), ("gzip;q=0", None), ("gzip; q=0.0, *", None)],
)
async def test_files_are_compressed_for_those_who_take_it(accepted, encoding):
    async with called(tone_service(), headers=BROWSER) as client:
        name = ASSET.findall((await client.get("/web")).text)[0]
        plain = await client.get(f"/{name}", headers={"Accept-Encoding": "identity"})
        answer = await client.get(f"/{name}", headers={"Accept-Encoding": accepted})
    assert answer.headers.get("content-encoding") == encoding
    assert answer.content == plain.content
    assert answer.headers["vary"] == "Accept-Encoding"


async def test_the_page_is_small():
    async with called(tone_service(), headers=BROWSER) as client:
        page = await client.get("/web")
        files = [(await client.get(f"/{name}")).content for name in ASSET.findall(page.text)]
    assert sum(len(gzip.compress(data)) for data in (page.content, *files)) < 150_000
