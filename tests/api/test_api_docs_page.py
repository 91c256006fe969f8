"""`/docs`: every operation on one page that loads nothing."""

import base64
import hashlib
import re
from html import unescape
from html.parser import HTMLParser

import pytest

from helpers.fakes import tone_service
from helpers.serving import called
from polyvox.api.docs_page import docs_page

pytestmark = pytest.mark.anyio

_VOID = {"meta", "!doctype"}


class Page(HTMLParser):
    """The tags and the links of a page, every one of which must be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value for name, value in attrs if name in ("href", "src", "action")]
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag


@pytest.mark.long
async def test_the_page_lists_every_operation_and_loads_nothing():
    async with called(tone_service()) as client:
        answer = await client.get("/docs")
        document = (await client.get("/openapi.json")).json()
        assert (await client.get("/docs")).text == answer.text
    page = Page(answer.text)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert page.links == ["openapi.json"]
    assert not page.tags & {"script", "link", "img", "iframe", "form"}
    assert page.attributes <= {"lang", "charset", "name", "content", "href"}
    for path, methods in document["paths"].items():
        for method in methods:
            assert f"<b>{method.upper()}</b> <code>{path}</code>" in answer.text
    for field in document["components"]["schemas"]["SpeechBody"]["properties"]:
        assert f"<code>{field}</code>" in answer.text
    assert 'curl "$SERVER/v1/audio/speech" -H "Content-Type: application/json"' in unescape(answer.text)


@pytest.mark.long
async def test_its_policy_allows_its_own_style_and_nothing_else():
    async with called(tone_service()) as client:
        answer = await client.get("/docs")
    policy = answer.headers["content-security-policy"]
    style = re.search("<style>(.*)</style>", answer.text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_what_the_document_says_is_text_and_no_markup():
    operation = {
        "tags": ["<t>"],
        "description": "<script>alert(1)</script> & `<b>`",
        "parameters": [{"name": "<q>", "in": "query", "schema": {"enum": ["<e>"]}, "description": "<d>"}],
        "responses": {"200": {"description": "<r>", "content": {"<c>": {}}}},
    }
    page = docs_page(
        {
            "info": {"title": "<x>", "version": "1", "description": "<y>"},
            "tags": [{"name": "<t>", "description": "<z>"}],
            "paths": {"/<path>": {"get": operation}},
        }
    )
    for given in ("<x>", "<y>", "<z>", "<t>", "<script>", "<q>", "<e>", "<d>", "<r>", "<c>", "<path>"):
        assert given not in page
    assert "<code>&lt;b&gt;</code>" in page
