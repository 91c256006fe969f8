import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from helpers.scorers import direction
from helpers.tables import each_row
from polyvox import extras
from polyvox.errors import InvalidRequestError, UnavailableError
from polyvox.evaluate.dnsmos import DnsScores
from polyvox.evaluate.evaluation import Evaluation, UtteranceResult
from polyvox.evaluate.metric import Metric
from polyvox.evaluate.plot import MAX_ROWS, check_plottable, save_plot
from polyvox.evaluate.report import Spread, as_json, as_table, by_voice
from polyvox.evaluate.wer import WerResult

EVALUATION = Evaluation(("ann", "[bob]"), ("one two", "three"))
SAMPLES = [
    UtteranceResult(1, "ann", "one two", 2.0, "one", WerResult(2, 0, 1, 0), 0.9, 4.5, DnsScores(3.9, 3.6, 4.1, 3.4)),
    UtteranceResult(2, "ann", "three", 1.0, "three", WerResult(1, 0, 0, 0), 0.7, 4.1, DnsScores(3.7, 3.4, 4.0, 3.0)),
    UtteranceResult(
        3, "[bob]", "one two", 2.5, "one two", WerResult(2, 0, 0, 0), None, 3.0, DnsScores(3.0, 3.0, 3.0, 3.0)
    ),
    UtteranceResult(4, "[bob]", "three", error="It hums."),
]


def printed(
    evaluation: Evaluation = EVALUATION,
    samples: list[UtteranceResult] = SAMPLES,
    metrics=tuple(Metric),
    width: int = 80,
) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(as_table(evaluation, samples, metrics))
    return out.getvalue()


def test_a_voice_is_summed_up_by_means_and_pooled_words():
    ann, bob, total = by_voice(EVALUATION, SAMPLES)
    assert (ann.voice, ann.spoken, ann.failed, ann.seconds) == ("ann", 2, 0, 3.0)
    assert ann.words == WerResult(3, 0, 1, 0)
    assert ann.similarity == Spread(pytest.approx(0.8), 0.7, 0.9)
    assert ann.distillmos == Spread(pytest.approx(4.3), 4.1, 4.5)
    assert ann.dnsmos_overall == Spread(pytest.approx(3.2), 3.0, 3.4)
    assert ann.dnsmos_p808 == Spread(pytest.approx(3.8), 3.7, 3.9)
    assert (bob.spoken, bob.failed, bob.similarity) == (1, 1, None)
    assert (total.voice, total.spoken, total.failed) == ("all voices", 3, 1)
    assert total.words == WerResult(5, 0, 1, 0)


def test_one_voice_needs_no_sum():
    assert [row.voice for row in by_voice(Evaluation(("ann",), ("one two", "three")), SAMPLES[:2])] == ["ann"]


def test_the_table_shows_every_voice_within_80_columns():
    text = printed()
    assert max(map(len, text.splitlines())) <= 80
    ann, bob = (next(line for line in text.splitlines() if line.startswith(name)) for name in ("ann", "[bob]"))
    assert ann.split() == "ann 33.3% (1/3) 0.80 (0.70) 4.30 (4.10) 3.20 (3.00) 3.80 (3.70)".split()
    assert "–" in bob
    assert "3 of 4 utterances spoken, 5.5 s of audio." in text
    assert "Failed (1): It hums." in text


def test_only_what_was_measured_is_shown():
    text = printed(metrics=(Metric.WER,))
    assert "word errors" in text
    assert "MOS" not in text
    assert "imilarity" not in text


@each_row(
    ("referred", "note"),
    [
        ((), "Similarity to the other utterances of the voice."),
        (("ann", "[bob]"), "Similarity to the reference."),
        (("ann",), "Similarity to the reference, else the other utterances of the voice."),
    ],
)
def test_the_table_says_what_voices_are_compared_with(referred, note):
    evaluation = Evaluation(EVALUATION.voices, EVALUATION.texts, references=dict.fromkeys(referred, direction(0.0)))
    assert note in printed(evaluation)


def test_texts_that_the_recogniser_does_not_know_are_mentioned():
    assert "English texts only" not in printed()
    assert "English texts only" in printed(samples=[*SAMPLES[:3], UtteranceResult(4, "[bob]", "三", 1.0)])


def test_the_data_holds_every_utterance():
    document = json.loads(json.dumps(as_json(EVALUATION, SAMPLES, [Metric.DNSMOS, Metric.WER])))
    assert document["metrics"] == ["wer", "dnsmos"]
    assert [voice["voice"] for voice in document["voices"]] == ["ann", "[bob]", "all voices"]
    assert document["voices"][0]["wer"] == pytest.approx(1 / 3)
    assert document["voices"][1]["similarity"] is None
    assert document["similarity_to"] == {"ann": "other utterances", "[bob]": "other utterances"}
    first, *_, last = document["samples"]
    assert first["dnsmos"] == {"p808": 3.9, "signal": 3.6, "background": 4.1, "overall": 3.4}
    assert (first["number"], first["transcript"], first["wer"]) == (1, "one", 0.5)
    assert (last["error"], last["wer"], last["dnsmos"]) == ("It hums.", None, None)


@pytest.mark.long
def test_the_plot_is_a_png(tmp_path: Path):
    save_plot(EVALUATION, SAMPLES, list(Metric), tmp_path / "all.png")
    save_plot(EVALUATION, SAMPLES, [Metric.SIMILARITY], tmp_path / "one.PNG")
    sizes = []
    for name in ("all.png", "one.PNG"):
        data = (tmp_path / name).read_bytes()
        assert data.startswith(b"\x89PNG")
        sizes.append(int.from_bytes(data[16:20], "big"))
    assert sizes[0] > sizes[1]


@pytest.mark.long
def test_a_plot_of_nothing_but_failures_is_a_plot_as_well(tmp_path: Path):
    samples = [UtteranceResult(1, "$a^{", "one", error="It hums.")]
    save_plot(Evaluation(("$a^{",), ("one",)), samples, list(Metric), tmp_path / "none.png")
    assert (tmp_path / "none.png").stat().st_size > 0


def test_what_cannot_be_drawn_is_refused_beforehand(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(InvalidRequestError, match="PNG"):
        check_plottable(Path("run.gif"), EVALUATION)
    with pytest.raises(InvalidRequestError, match="room for 60 voices"):
        check_plottable(Path("run.png"), Evaluation(tuple(map(str, range(MAX_ROWS + 1))), ("one",)))
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(UnavailableError, match=r"pip install -e '\.\[plot\]'"):
        check_plottable(Path("run.png"), EVALUATION)
