"""The criteria of a sound model: what is met, missed or not judged, and what each sentence is held to."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from helpers.scorers import Encoder
from polyvox.engines.catalog import Catalog
from polyvox.errors import InvalidRequestError
from polyvox.evaluate.soundness.criteria import Criterion, Judgement, judge
from polyvox.evaluate.soundness.listeners import Listeners
from polyvox.evaluate.soundness.report import EXIT_CODES, verdict
from polyvox.evaluate.soundness.sentences import COUNT, preferred_language, sentences_of
from polyvox.evaluate.soundness.spoken_sentence import SpokenSentence, TrialVoice
from polyvox.evaluate.soundness.trial import Difference, Trial, run_trial
from polyvox.types import Pcm
from polyvox.voices.recognition.recogniser import Recognition, RecognitionTask
from polyvox.voices.references import RegisteredVoice

RATE = 16_000
TEXTS = tuple({len(text): text for text in sentences_of("en")}.values())[:4]
OWN = TrialVoice("anna", RegisteredVoice("anna"))


class Hears:
    """Hears what a sentence of its length says; the trial's sentences differ in length."""

    longest = 20.0

    def recognise(self, window: Pcm, task: RecognitionTask, check: Callable[[], None]) -> Recognition:
        said = next((text for text in TEXTS if abs(_samples(text) - len(window)) < 10), "")
        return Recognition(said, "en")


def _samples(text: str) -> int:
    return int(0.06 * len(text) * RATE)


def spoken(text: str, **changes: object) -> SpokenSentence:
    pcm = np.full(_samples(text), 0.1, np.float32)
    sentence = SpokenSentence("anna", text, pcm, RATE, first_seconds=0.2, wall_seconds=1.0)
    return replace(sentence, **changes)


def trial(**changes: object) -> Trial:
    alone = tuple(spoken(text) for text in TEXTS)
    sound = Trial((OWN,), alone, Difference(equal=True, longer=0.0), alone, 4.0)
    return replace(sound, **changes)


EARS = Listeners("en", Hears(), Encoder())


def missed(found: Trial, listeners: Listeners = EARS) -> list[str]:
    return [each.name for each in judge(found, listeners, timed=True).criteria if each.met is False]


def test_a_trial_that_holds_every_limit_is_sound() -> None:
    judgement = judge(trial(), EARS, timed=True)
    assert [each.met for each in judgement.criteria] == [True] * 11
    assert (judgement.sound, judgement.transcripts) == (True, TEXTS)
    assert len(judge(trial(), EARS, timed=False).criteria) == 7


def test_each_fault_misses_its_own_criterion() -> None:
    first, *rest = trial().alone

    def with_first(**changes: object) -> Trial:
        return trial(alone=(replace(first, **changes), *rest))

    slow = [replace(each, wall_seconds=9.0, first_seconds=3.0) for each in (first, *rest)]
    stranger = replace(OWN, prompt=(np.full(RATE, 0.5, np.float32), RATE))
    cases = {
        "sentences spoken": with_first(error="It failed."),
        "quietest sentence": with_first(pcm=first.pcm * 1e-4),
        "seconds a character": trial(alone=tuple(replace(each, rate=8 * RATE) for each in (first, *rest))),
        "words wrong, anna": trial(alone=tuple(replace(each, pcm=each.pcm[:-4000]) for each in (first, *rest))),
        "anna, like its recording": trial(voices=(stranger,)),
        "stream and whole": trial(stream_and_whole=Difference(equal=False, longer=0.2)),
        "alone and 4 at once": trial(together=(replace(first, pcm=first.pcm[: RATE // 2]), *rest)),
        "real-time factor": trial(alone=tuple(slow), together_seconds=36.0),
        "4 at once, by in turn": trial(together_seconds=5.1),
    }
    for name, found in cases.items():
        assert name in missed(found), (name, missed(found))


def test_samples_that_are_no_numbers_are_missed_words_and_no_error() -> None:
    broken = tuple(replace(each, pcm=np.full_like(each.pcm, np.nan)) for each in trial().alone)
    assert {"quietest sentence", "words wrong, anna"} <= set(missed(trial(alone=broken)))


def test_lengths_may_differ_a_little_where_samples_do() -> None:
    for longer, met in ((0.09, True), (-0.09, True), (0.11, False), (-0.11, False)):
        found = judge(trial(stream_and_whole=Difference(equal=False, longer=longer)), EARS, timed=False)
        assert next(each.met for each in found.criteria if each.name == "stream and whole") is met


def test_what_nobody_can_hear_is_not_judged_and_the_row_says_what_is_missing() -> None:
    deaf = Listeners("de", None, None, no_words="no recogniser", no_speaker="run: polyvox pull campplus")
    judgement = judge(trial(), deaf, timed=True)
    assert judgement.sound is None
    unjudged = {each.name: each.measured for each in judgement.criteria if each.met is None}
    assert unjudged == {"words wrong, anna": "no recogniser", "anna, like itself": "run: polyvox pull campplus"}
    faulty = trial(alone=tuple(replace(each, error="No.") for each in trial().alone))
    assert judge(faulty, deaf, timed=True).sound is False


def test_the_verdict_names_what_decides_it() -> None:
    good, bad, open_one = (Criterion(name, "", "", met) for name, met in (("a", True), ("b", False), ("c", None)))
    cases = (
        ((good,), "m is sound.", 0),
        ((good, bad, open_one), "m is not sound: b.", 1),
        ((good, open_one), "m could not be judged: c.", 2),
    )
    for criteria, sentence, code in cases:
        judgement = Judgement(criteria)
        assert (verdict("m", judgement), EXIT_CODES[judgement.sound]) == (sentence, code)


def test_errors_are_counted_in_what_a_language_is_written_in() -> None:
    for language, text, transcript, errors, total in (
        ("zh", "水壶就响了，我们看见。", "水湖都響了 我們看見", 1, 9),
        ("ja", "本を三冊。", "本を二冊", 1, 4),
        ("de", "Der Wasserkocher pfiff.", "der wasserkocher griff", 1, 3),
        ("en", "She packed three books.", "She packed 3 books", 0, 4),
    ):
        result = Listeners(language).errors(text, transcript)
        assert (result.errors, result.words) == (errors, total), language


def test_every_language_of_a_check_has_ten_different_sentences() -> None:
    for language in ("en", "de", "fr", "es", "it", "pt", "nl", "ru", "zh", "ja", "ko"):
        assert len(set(sentences_of(f"{language}-XX"))) == COUNT, language
    with pytest.raises(InvalidRequestError, match="--texts"):
        sentences_of("eo")


def test_every_installed_family_has_a_language_with_sentences() -> None:
    catalog = Catalog.installed()
    for model in catalog.factories:
        assert sentences_of(preferred_language(catalog.spec(model).bare_outline(model).languages)), model


@pytest.mark.anyio
async def test_a_trial_speaks_each_sentence_alone_then_a_stream_a_whole_and_four_at_once() -> None:
    asked: list[tuple[str, str, bool]] = []
    steps: list[None] = []

    async def speak(voice: TrialVoice, text: str, *, whole: bool = False) -> SpokenSentence:
        asked.append((voice.label, text, whole))
        return spoken(text, voice=voice.label)

    other = replace(OWN, label="bert")
    found = await run_trial(speak, (OWN, other), TEXTS, lambda: steps.append(None))
    paragraph = f"{TEXTS[0]} {TEXTS[1]}"
    expected = [(voice, text, False) for voice in ("anna", "bert") for text in (TEXTS[0], *TEXTS)]
    assert asked == [
        *expected,
        ("anna", paragraph, False),
        ("anna", paragraph, True),
        *(("anna", text, False) for text in TEXTS),
    ]
    assert len(steps) == 10
    assert [each.voice for each in found.alone] == ["anna"] * 4 + ["bert"] * 4
    assert found.stream_and_whole == Difference(equal=True, longer=0.0)
