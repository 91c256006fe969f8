"""The Studio's arithmetic without a browser: figures of /metrics, and scripts of dialogues, run by node."""

import json
import shutil
import subprocess
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from helpers.studio_tools import STUDIO, installed_packages, need
from polyvox.cli.speech.turns import read_turns
from polyvox.service.telemetry.recent_counts import RecentCounts

EDGES = (0.1, 0.2, 0.5, 1.0)


@pytest.fixture(scope="module")
def evaluate(tmp_path_factory):
    """Evaluates an expression over the functions of some modules of the page."""
    node = shutil.which("node")
    need(node, "The tests of the Studio's arithmetic need node; run: apt-get install nodejs npm")
    bundle = tmp_path_factory.mktemp("figures") / "page.mjs"
    pages = ("live/exposition", "live/figures", "live/history", "dialogue/script", "jobs/progress", "mix/parts")
    modules = ("audio/clock", "file_name", "voice_ranking", *(f"pages/{page}" for page in pages))
    entry = "\n".join(f"export * from './src/{module}';" for module in modules)
    esbuild = installed_packages() / "node_modules" / ".bin" / "esbuild"
    command = [esbuild, "--bundle", "--format=esm", f"--outfile={bundle}", "--log-level=error", "--loader=ts"]
    subprocess.run([*command], input=entry, text=True, cwd=STUDIO, check=True, timeout=60)

    def run(expression: str, *arguments: str) -> Any:
        program = f"import * as page from '{bundle}'; const given = process.argv.slice(1);\n"
        program += f"console.log(JSON.stringify({expression}))"
        command = [str(node), "--input-type=module", "-e", program, "--", *arguments]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)

    return run


class Instruments:
    """Metrics as the server names them."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.refused = Counter("polyvox_refused", "Refusals.", ["reason"], registry=registry)
        self.active = Gauge("polyvox_active_sessions", "Streams.", registry=registry)
        self.first = Histogram(
            "polyvox_time_to_first_audio_seconds", "Wait.", ["model"], buckets=EDGES, registry=registry
        )

    @property
    def text(self) -> str:
        return generate_latest(self.registry).decode()


FIGURES = "page.figures(new page.Scrape(60000, given[1]), new page.Scrape(0, given[0]))"


@pytest.mark.long
def test_rates_and_quantiles_are_those_of_the_time_between_two_scrapes(evaluate):
    metrics = Instruments()
    for _ in range(50):
        metrics.first.labels("old").observe(0.9)
    before = metrics.text
    for seconds in (0.15, 0.15, 0.3, 0.3):
        metrics.first.labels("a").observe(seconds)
    metrics.refused.labels("queue").inc(3)
    metrics.refused.labels('a "quoted\\ reason').inc(1)
    metrics.active.set(7)
    found = evaluate(FIGURES, before, metrics.text)
    assert (found["streams"], found["refusalsPerMinute"], found["limit"]) == (7, 4, None)
    assert found["firstAudioMedian"] == pytest.approx(0.2)  # two of four lie below the edge of their bucket
    assert found["firstAudio95"] == pytest.approx(0.2 + 0.3 * 0.9)
    growth = (
        "page.growth(new page.Scrape(1, given[1]), new page.Scrape(0, given[0]), 'polyvox_refused_total', 'reason')"
    )
    assert evaluate(growth, before, metrics.text) == [["queue", 3], ['a "quoted\\ reason', 1]]


def test_a_server_that_was_started_anew_does_not_count_backwards(evaluate):
    first, second = Instruments(), Instruments()
    first.refused.labels("queue").inc(100)
    second.refused.labels("queue").inc(2)
    found = evaluate(FIGURES, first.text, second.text)
    assert (found["refusalsPerMinute"], found["firstAudioMedian"]) == (2, None)


def test_a_history_keeps_five_minutes_and_counts_over_the_last_one(evaluate):
    metrics = Instruments()
    texts = []
    for _ in range(2):
        metrics.refused.labels("queue").inc(30)
        texts.append(metrics.text)
    history = (
        "[0, 30, 300, 330, 400].reduce((past, at, place) => "
        "page.withScrape(past, new page.Scrape(at * 1000, given[place < 3 ? 0 : 1])), page.EMPTY_HISTORY).figures"
        ".map(({at, refusalsPerMinute}) => [at / 1000, refusalsPerMinute])"
    )
    assert evaluate(history, *texts) == [[300, 0], [330, 60], [400, 0]]


def test_what_the_server_kept_of_the_last_minutes_is_where_a_page_begins(evaluate):
    metrics = Instruments()
    clock = iter([0.0, 10.0, 20.0, 30.0])
    recent = RecentCounts(metrics.registry, lambda: next(clock))
    recent.take()
    metrics.refused.labels("queue").inc(5)
    metrics.first.labels("a").observe(0.3)
    recent.take()
    metrics.refused.labels("queue").inc(5)
    recent.take()
    figures = (
        "page.historyOf(JSON.parse(given[0]), 100000).figures"
        ".map((each) => [each.at, each.refusalsPerMinute, each.firstAudioMedian])"
    )
    assert evaluate(figures, json.dumps(recent.public())) == [
        [70_000, 0, None],
        [80_000, 30, pytest.approx(0.35)],
        [90_000, 30, pytest.approx(0.35)],
    ]


@pytest.mark.long
def test_a_script_is_read_as_the_command_line_reads_it_and_written_back(evaluate):
    script = "low: One: two.\n\n  three\nurl+https://example.org/a.wav: Four.\n"
    turns = "page.parseScript(given[0], 1).map(({voice, text}) => [voice, text])"
    assert evaluate(turns, script) == [[turn.voice, turn.text] for turn in read_turns(script)]
    written = "page.writeScript(page.parseScript(given[0], 1))"
    assert evaluate(turns, evaluate(written, script)) == evaluate(turns, script)


@pytest.mark.long
def test_the_time_that_a_book_still_takes_is_that_of_its_last_sentences(evaluate):
    left = (
        "[10, 12, 20].reduce(([marks], done, place) => {"
        " const job = {status: 'running', progress: {sentences_done: done, sentences: 40}};"
        " const next = page.withMark(marks, job, place * 5000);"
        " return [next, page.secondsLeft(next, job)] }, [[], null])[1]"
    )
    assert evaluate(left) == pytest.approx(20.0)
    assert evaluate("[5, 65, 3725].map(page.timeWords)") == ["5 s", "1 min 5 s", "1 h 2 min"]


@pytest.mark.long
def test_shares_of_a_mix_add_up_to_a_hundred_percent(evaluate):
    assert evaluate("[[1, 1, 1], [6, 2], [5, 3, 3], [0, 0]].map(page.percents)") == [
        [34, 33, 33],
        [75, 25],
        [46, 27, 27],
        [0, 0],
    ]


@pytest.mark.long
def test_the_best_voices_come_first_and_a_pair_has_two_sounds(evaluate):
    voices = [
        {"id": "plain", "language": "en-us", "gender": "male", "available": True},
        {"id": "fair", "language": "en-us", "gender": "male", "grade": "C+", "available": True},
        {"id": "good", "language": "en-gb", "gender": "male", "grade": "B", "available": True},
        {"id": "gone", "language": "en-us", "gender": "male", "grade": "A+", "available": False},
        {"id": "best", "language": "en-us", "gender": "female", "grade": "A-", "available": True},
        {"id": "next", "language": "en-us", "gender": "female", "grade": "A-", "available": True},
    ]
    ids = "({id}) => id"
    ranked = evaluate(f"page.byGrade(JSON.parse(given[0])).map({ids})", json.dumps(voices))
    assert ranked == ["gone", "best", "next", "good", "fair", "plain"]
    assert evaluate(f"page.goodPair(JSON.parse(given[0])).map({ids})", json.dumps(voices)) == ["best", "fair"]
    assert evaluate("page.goodPair([])") == []


@pytest.mark.long
def test_times_and_names_of_files_are_as_people_write_them(evaluate):
    assert evaluate("[7.9, 750, 3723].map(page.clock)") == ["0:07", "12:30", "1:02:03"]
    names = "given.map((text) => page.fileName(text, 'speech', 'mp3'))"
    texts = ["Über alles: ../etc/passwd", "?!", "a" * 100, "你好。世界"]
    assert evaluate(names, *texts) == ["Über-alles-etc-passwd.mp3", "speech.mp3", "a" * 40 + ".mp3", "你好-世界.mp3"]
