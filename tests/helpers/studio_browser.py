"""Pages of the Studio in a real browser, watched for whatever must not happen on them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from helpers.studio_tools import chromium_path, installed_packages, need

try:
    from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright
    from playwright.sync_api import TimeoutError as PlaywrightTimeout
except ImportError:
    expect = sync_playwright = PlaywrightTimeout = None

_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--mute-audio",
    "--use-fake-device-for-media-stream",
    # With every page the browser loads two of its own, for what it suggests below an address: a second of CPU time.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
]
_DESKTOP = (1180, 820)
PHONE = (360, 740)
_MOST_TABS = 80
_PATIENCE_MS = 20_000
_WATCH = """
window.violations = [];
document.addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective));
window.marked = [];
new MutationObserver((changes) => {
  for (const {target} of changes) {
    if (target.matches?.('.word.heard')) window.marked.push(target.textContent.trim());
  }
}).observe(document, {subtree: true, attributes: true, attributeFilter: ['class']});
"""


@contextmanager
def launched(*arguments: str) -> Iterator["Browser"]:
    """The system's Chromium, with further arguments."""
    need(sync_playwright, "The tests of the Studio need playwright; run: pip install -e '.[dev]'")
    path = chromium_path()
    expect.set_options(timeout=_PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*_ARGUMENTS, *arguments])
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watch:
    """What happened on a page."""

    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@contextmanager
def studio_page(
    browser: "Browser",
    url: str,
    size: tuple[int, int] = _DESKTOP,
    *,
    script: str = "",
    refused: bool = False,
    **options: Any,
) -> Iterator["Page"]:
    """A fresh page of the Studio. In the end nothing may have failed, broken the policy, or left the host.

    With `refused`, the server may have refused calls of the page, which the browser counts as errors.
    """
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
    context.set_default_timeout(_PATIENCE_MS)
    page = context.new_page()
    watch = Watch()
    page.add_init_script(_WATCH + script)
    page.on("pageerror", lambda error: watch.errors.append(str(error)))
    page.on("console", lambda message: message.type == "error" and watch.errors.append(message.text))
    page.on("request", lambda request: _is_foreign(request.url, url) and watch.foreign.append(request.url))
    try:
        page.goto(url)
        page.get_by_role("heading", level=1).wait_for()
        yield page
        assert page.evaluate("window.violations") == []
        if refused:
            watch.errors = [error for error in watch.errors if not error.startswith("Failed to load resource")]
        assert watch == Watch()
    finally:
        context.close()


def forget_marks(page: "Page") -> None:
    """Forget which words were marked as heard so far."""
    page.evaluate("window.marked = []")


def wait_until_marked(page: "Page", word: str) -> None:
    """Wait until a word is marked as heard, however short: on a busy machine the mark may be gone before one looks."""
    page.wait_for_function("(word) => window.marked.includes(word)", arg=word)


def axe_violations(page: "Page") -> list[str]:
    """What axe-core finds on a page, one line each; its code runs outside of the page's policy."""
    if page.evaluate("typeof axe === 'undefined'"):
        source = (installed_packages() / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
        page.evaluate(f"{source}; 0")
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {json.dumps([node['html'][:120] for node in each['nodes']])}" for each in found["violations"]
    ]


def assert_accessible(page: "Page") -> None:
    """As the page stands: axe finds nothing, and nothing is wider than the screen, on a desk and on a phone."""
    for width, height in (_DESKTOP, PHONE):
        page.set_viewport_size({"width": width, "height": height})
        assert axe_violations(page) == [], width
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width


def tab_to(page: "Page", target: "Locator") -> None:
    """Press Tab until the focus is there, as somebody without a mouse does."""
    target.wait_for()
    for _ in range(_MOST_TABS):
        if target.evaluate("(element) => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{target} was not reached by {_MOST_TABS} presses of Tab")


def _is_foreign(address: str, url: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme not in ("blob", "data", "about") and parts.netloc != urlsplit(url).netloc
