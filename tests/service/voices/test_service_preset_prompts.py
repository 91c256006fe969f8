"""Built-in voices of one engine, borrowed by an engine that clones."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from helpers.cloning import Studio, opened, sample
from helpers.fakes import ToneEngine, missing_bundle, tone_spec
from helpers.scripted_fits import ScriptedFits, fitting_service
from polyvox.engines.catalog import Catalog
from polyvox.engines.spec import PresetPrompt, PresetVoices
from polyvox.errors import InvalidRequestError, UnavailableError, UnknownVoiceError
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.speech_request import SpeechRequest
from polyvox.types import PreparedVoice, Utterance
from polyvox.voices.fitted import fitted_style
from polyvox.voices.records import SHARED_OWNER, VoiceDetails
from polyvox.voices.references import InlineVoice, RegisteredVoice

pytestmark = pytest.mark.anyio


class ChoirEngine(ToneEngine):
    """Has the voices that others borrow; of languages it reads only English."""

    def __init__(self) -> None:
        super().__init__("choir")
        self.starts = 0

    async def start(self) -> None:
        self.starts += 1
        await super().start()

    async def speak(self, utterance):
        if utterance.language != "en-us":
            raise UnavailableError("Only English is read here.", field="language")
        async for chunk in super().speak(utterance):
            yield chunk


def presets(name: str) -> PresetPrompt | None:
    voice = {"alto": "low", "soprano": "high"}.get(name)
    return None if voice is None else PresetPrompt(voice, "Bonjour.", "fr", "Good morning.")


@pytest.fixture
def choir(monkeypatch) -> ChoirEngine:
    engine = ChoirEngine()
    lending = replace(tone_spec(lambda _: engine, "choir"), presets=PresetVoices("choir", ("alto", "soprano"), presets))
    monkeypatch.setattr(Catalog, "installed", lambda: Catalog((lending,)))
    return engine


async def spoken(studio: Studio, voice: str) -> Utterance:
    resolve = partial(studio.voices.resolver.resolve, RegisteredVoice(voice), SHARED_OWNER)
    asked = SpeechRequest(Utterance("Hello.", voice), resolve_voice=resolve)
    async with await studio.speech.open(asked, LOCAL_CALL) as session:
        async for _ in session:
            continue
    return studio.engine.heard[-1]


async def test_a_borrowed_voice_speaks_its_prompt_once_and_its_model_is_closed_again(tmp_path: Path, choir):
    async with opened(Studio(tmp_path)) as studio:
        for _ in range(3):
            utterance = await spoken(studio, "alto")
            assert (utterance.voice, utterance.prepared is None) == ("alto", False)
        (prompt,) = studio.engine.prepared
        assert (prompt.transcript, prompt.sample_rate, len(prompt.pcm) > 0) == ("Good morning.", 24_000, True)
        assert (choir.starts, choir.is_closed) == (1, True)
        assert await spoken(studio, "soprano")
        assert len(studio.engine.prepared) == 2


async def test_a_further_name_means_its_voice_unless_a_voice_has_it(tmp_path: Path, choir):
    aliases = ["中文女=alto", "deep=low", "low=high"]
    async with opened(Studio(tmp_path, voice_aliases=aliases)) as studio:
        assert (await spoken(studio, "中文女")).voice == "alto"
        own = await spoken(studio, "deep")
        assert (own.voice, own.prepared) == ("low", None)
        assert (await spoken(studio, "low")).voice == "low"


async def test_an_engine_that_cannot_clone_borrows_nothing(tmp_path: Path, choir):
    async with opened(Studio(tmp_path, ToneEngine())) as studio:
        with pytest.raises(UnknownVoiceError):
            await spoken(studio, "alto")


async def test_where_the_lending_model_is_not_installed_the_fix_is_named(tmp_path: Path, choir):
    choir.start_error = missing_bundle()
    async with opened(Studio(tmp_path)) as studio:
        with pytest.raises(UnavailableError, match="polyvox pull choir"):
            await spoken(studio, "alto")
        assert studio.voices.presets.names == ()


async def test_a_request_without_a_voice_gets_the_models_own(tmp_path: Path, choir):
    async with opened(Studio(tmp_path, default_voice="alto")) as studio:
        assert (await spoken(studio, "")).voice == "low"
    async with opened(Studio(tmp_path, default_voice="high")) as studio:
        assert (await spoken(studio, "")).voice == "high"


async def test_a_mix_with_a_fitted_voice_is_borrowed_with_its_style(tmp_path: Path, choir, monkeypatch):
    """The lending model speaks the prompt in the mix and offset of the fit."""
    styles = []

    def voice_from_style(mix, offset, language):
        styles.append(({part.voice: part.share for part in mix}, offset))
        return PreparedVoice("choir", "", {})

    choir.voice_from_style = voice_from_style
    script = ScriptedFits(model="choir")
    async with opened(Studio(tmp_path)) as studio:
        fits = fitting_service(studio.speech.settings, studio.voices, script)
        fitted = await fits.finished(
            await fits.start(InlineVoice(sample(1)), VoiceDetails.checked(name="anna", consent=True), SHARED_OWNER),
            lambda job: None,
            every=0.01,
        )
        style = fitted_style(fitted.report)
        monkeypatch.setattr(studio.voices.presets, "_presets", PresetVoices("choir", ("alto",), presets_of_any))
        for _ in range(2):
            assert (await spoken(studio, "anna+alto")).prepared is not None
        assert len(studio.engine.prepared) == 1
        (shares, offset), *_ = styles
        assert shares["alto"] == 0.5
        np.testing.assert_allclose(offset, style.offset / 2)
        await studio.voices.register(
            InlineVoice(sample(2)), VoiceDetails.checked(name="bert", consent=True), SHARED_OWNER
        )
        with pytest.raises(InvalidRequestError, match="polyvox voices fit bert"):
            await spoken(studio, "anna+bert")


def presets_of_any(name: str) -> PresetPrompt | None:
    return None if "+" in name or name in ("anna", "bert") else PresetPrompt("low", "Hello.", "en-us", "Hello.")
