"""A figure that several pages name is the same on each, and is told with machine, command and date."""

import re
import tomllib
from datetime import date

from benchmarks.capacity import CPU_COSTS
from helpers.documents import PAGES, ROOT, page_name

FIGURES = tomllib.loads((ROOT / "benchmarks" / "figures.toml").read_text(encoding="utf-8"))
CARDS = (ROOT / "src/polyvox/engines/kokoro/wren/README.md", ROOT / "training/wren/checkpoint/README.md")
MARKED = re.compile(r"(?P<shown>[\d./]+(?: s)?)<!-- figure (?P<name>\w+) -->")
MARK = "<!-- figure "


def marked() -> list[tuple[str, str, str]]:
    """Page, name and value of each figure that a page marks."""
    return [
        (page_name(page), found["name"], found["shown"])
        for page in (*PAGES, *CARDS)
        for found in MARKED.finditer(page.read_text(encoding="utf-8"))
    ]


def test_pages_give_each_figure_as_it_was_measured() -> None:
    assert [found for found in marked() if found[2] != FIGURES[found[1]]["value"]] == []


def test_every_mark_stands_behind_a_number() -> None:
    marks = sum(page.read_text(encoding="utf-8").count(MARK) for page in (*PAGES, *CARDS))
    assert marks == len(marked()) > 20


def test_every_figure_is_named_by_several_pages_and_says_where_it_comes_from() -> None:
    for name, figure in FIGURES.items():
        assert len({page for page, found, _ in marked() if found == name}) > 1, name
        assert figure.keys() == {"value", "what", "machine", "command", "date"}, name
        assert isinstance(figure["date"], date), name


def test_the_capacity_model_counts_with_the_same_costs() -> None:
    costs = {cost.model: cost.cpu_seconds for cost in CPU_COSTS}
    assert costs["Wren"] == float(FIGURES["wren_cpu"]["value"])
    assert costs["Kokoro"] == float(FIGURES["kokoro_cpu"]["value"])
