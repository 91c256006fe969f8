"""The documents build as a site without a warning, and speak the words of the project."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import polyvox
from helpers.documents import PAGES, ROOT, page_name

JIEBA = re.compile(r"^(Building prefix|Loading model|Dumping model|Prefix dict) .*\n", re.MULTILINE)
"""What the search index's segmenter of Chinese says of its own loading."""
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\ssrc=["']?(?:https?:)?//"""
    r"""|<link\b(?=[^>]*\brel=["']?(?:stylesheet|preload|preconnect|icon|modulepreload))[^>]*?\shref=["']?(?:https?:)?//"""
    r"""|url\(["']?(?:https?:)?//|@import\s+["'](?:https?:)?//""",
    re.IGNORECASE,
)
"""What makes a browser fetch something from another host by itself, in a page or a style sheet."""
PRIVATE = re.compile(r"\b(hall|house|housemates?|knobs?|whoever|in company)\b", re.IGNORECASE)


@pytest.mark.long
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    site = tmp_path / "site"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(site)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not JIEBA.sub("", done.stderr)
    assert (site / "doors" / "openai" / "index.html").is_file()
    assert (site / "architecture.svg").is_file()
    files = [*site.rglob("*.html"), *site.rglob("*.css"), *site.rglob("*.svg")]
    fetching = {str(file.relative_to(site)): FETCHED.search(file.read_text(encoding="utf-8")) for file in files}
    assert {name: found[0] for name, found in fetching.items() if found} == {}


def test_a_page_that_would_fetch_from_elsewhere_is_found() -> None:
    for text in (
        '<script async src="https://cdn.example/a.js">',
        "<link rel=preconnect href=https://fonts.example>",
        '<link href="//fonts.example/a.css" rel="stylesheet">',
        '<img alt="a" src="http://badges.example/b.svg">',
        "src: url(https://fonts.example/f.woff2)",
        "@import 'https://fonts.example/a.css'",
    ):
        assert FETCHED.search(text), text
    for text in (
        '<a href="https://example.org">',
        '<link rel="canonical" href="https://polyvox.example/">',
        '<script src="../a.js">',
    ):
        assert not FETCHED.search(text), text


def test_links_of_the_readme_lead_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"):
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            if not link.startswith(("http", "#", "mailto:")):
                assert (ROOT / link.partition("#")[0]).exists(), f"{page_name(page)}: {link}"


def test_files_that_the_architecture_names_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w/.])((?:\w+/)*\w+\.py)\b", text))
    assert len(named) > 10
    roots = (ROOT / "src" / "polyvox", ROOT)
    assert [path for path in sorted(named) if not any((root / path).is_file() for root in roots)] == []


def test_no_page_speaks_a_private_language() -> None:
    found = [
        f"{page_name(page)}: {match[0]}"
        for page in PAGES
        for match in PRIVATE.finditer(page.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_the_changelog_has_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["hatch"]["version"]["path"] == "src/polyvox/__init__.py"
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(polyvox.__version__)} - \d{{4}}-\d\d-\d\d$", changes, re.MULTILINE)


def test_nothing_tells_to_install_from_a_package_index_that_has_no_release() -> None:
    files = [*PAGES, *(ROOT / "examples").rglob("*.py"), *(ROOT / "src").rglob("*.py")]
    found = [page_name(file) for file in files if "install 'polyvox" in file.read_text(encoding="utf-8")]
    assert found == []


def test_the_readme_lists_every_extra_and_every_door() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = text.partition("\n| extra | adds |\n")[2].partition("\n\n")[0]
    assert {*re.findall(r"^\| `(\w+)` \|", extras, re.MULTILINE)} == project["optional-dependencies"].keys() - {"dev"}
    doors = text.partition("\n## Doors\n")[2].partition("\n## ")[0]
    assert {page.stem for page in (ROOT / "docs" / "doors").glob("*.md")} <= {
        *re.findall(r"docs/doors/([\w-]+)\.md", doors)
    }


def test_the_index_and_the_navigation_lead_to_every_page() -> None:
    docs = ROOT / "docs"
    pages = {page.relative_to(docs).as_posix() for page in docs.rglob("*.md")}
    linked = set(re.findall(r"\]\(([\w/-]+\.md)", (docs / "index.md").read_text(encoding="utf-8")))
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    assert pages - linked - {"index.md"} == set()
    assert pages == set(re.findall(r": ([\w/-]+\.md)$", navigation, re.MULTILINE))
