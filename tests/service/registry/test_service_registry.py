"""The models of a server, which of them are available, and the reason for those that are not."""

import asyncio

import pytest
from structlog.testing import capture_logs

from helpers.fakes import BusyEngine, PlainToneEngine, ToneEngine, missing_bundle, tone_settings
from helpers.tables import each_row
from polyvox.bundles.manifest import manifest_named
from polyvox.engines.spec import ModelOutline
from polyvox.errors import InvalidRequestError, NotServedError, UnavailableError, UnknownModelError
from polyvox.service.registry.registry import Registry

pytestmark = pytest.mark.anyio


def registry(*engines: PlainToneEngine, **settings) -> Registry:
    """A registry of the given engines, all loaded, the first one the default."""
    names = [engine.name for engine in engines]
    values = {"models": names, "default_model": names[0], **settings}
    return Registry(tone_settings(**values), {engine.name: lambda _, engine=engine: engine for engine in engines})


DATED = ["tts-1-1106", "tts-1-hd-1106", "gpt-4o-mini-tts-2025-03-20", "gpt-4o-mini-tts-2025-12-15"]


@each_row("name", [None, "", "tone", "tts-1", "tts-1-hd", "gpt-4o-mini-tts", *DATED])
async def test_openai_names_and_no_name_mean_the_default_model(name: str | None) -> None:
    tone, other = ToneEngine(), ToneEngine("other")
    models = registry(tone, other)
    await models.start()
    assert models.engine(name) is tone
    assert models.engine("other") is other
    assert models.model(name).id == "tone"


@each_row("name", ["tts-1-hd", "tts-1-hd-1106"])
async def test_the_name_of_openais_better_model_may_mean_another_one(name: str) -> None:
    models = registry(ToneEngine(), ToneEngine("other"), hd_model="other")
    assert [models.resolve(each) for each in (None, "tts-1", "tts-1-1106", "gpt-4o-mini-tts")] == ["tone"] * 4
    assert models.resolve(name) == models.model(name).id == "other"


def test_a_better_model_that_is_not_served_is_refused_at_once() -> None:
    with pytest.raises(InvalidRequestError, match=r"'hd_model' names 'other'.*use one of tone") as caught:
        registry(ToneEngine(), hd_model="other")
    assert caught.value.field == "hd_model"


async def test_an_unknown_model_is_refused_with_the_known_ones_named() -> None:
    models = registry(ToneEngine(), ToneEngine("other"))
    await models.start()
    with pytest.raises(UnknownModelError, match="use one of tone, other") as caught:
        models.engine("gpt-9")
    assert caught.value.field == "model"


async def test_an_absurdly_long_name_is_not_echoed_in_full() -> None:
    with pytest.raises(UnknownModelError) as caught:
        registry(ToneEngine()).engine("x" * 100_000)
    assert len(caught.value.message) < 300


async def test_a_model_that_exists_but_is_not_loaded_is_refused_with_the_setting_named() -> None:
    models = registry(ToneEngine(), ToneEngine("other"), models=["tone"])
    with pytest.raises(UnavailableError, match="add it to the setting 'models'"):
        models.engine("other")


async def test_where_no_model_clones_the_refusal_explains_how_to_install_one() -> None:
    def outline(name: str) -> ModelOutline:
        return ModelOutline((), frozenset({"en"}), cloning=name != "tone")

    factories = {name: lambda _, name=name: ToneEngine(name) for name in ("tone", "cloner", "parrot")}
    models = Registry(tone_settings(), factories, absence="Run: polyvox pull {}.".format, outline=outline)
    with pytest.raises(NotServedError) as caught:
        models.check_cloning(ToneEngine())
    assert caught.value.message == (
        "The model 'tone' cannot clone voices; this server runs no model that can. Run: polyvox pull cloner. "
        "Others that clone: parrot."
    )


async def test_the_model_to_fetch_first_is_named_with_licence_and_size() -> None:
    def outline(name: str) -> ModelOutline:
        first = name == "zipvoice_distill"
        return ModelOutline((), frozenset({"en"}), cloning=name != "tone", first_to_clone=first)

    factories = {name: lambda _, name=name: ToneEngine(name) for name in ("tone", "cloner", "zipvoice_distill")}
    models = Registry(tone_settings(), factories, absence="Run: polyvox pull {}.".format, outline=outline)
    with pytest.raises(NotServedError) as caught:
        models.check_cloning(ToneEngine())
    manifest = manifest_named("zipvoice_distill")
    assert manifest.download_bytes is None
    assert caught.value.message.partition("Run: ")[2] == (
        f"polyvox pull zipvoice_distill. It is {manifest.title}; code Apache-2.0, weights Apache-2.0; at most 1.07 GB. "
        "Others that clone: cloner."
    )


async def test_a_missing_bundle_leaves_the_model_listed_with_its_remedy_and_the_others_speaking() -> None:
    models = registry(ToneEngine(), ToneEngine("other", start_error=missing_bundle()))
    await models.start()
    assert models.engine("tone")
    with pytest.raises(UnavailableError, match="polyvox pull tone"):
        models.engine("other")
    tone, other = models.models()
    assert (tone.id, tone.available, tone.reason) == ("tone", True, "")
    assert tone.capabilities is not None
    assert (other.id, other.available, other.capabilities) == ("other", False, None)
    assert "polyvox pull tone" in other.reason
    assert tone.owned_by == "polyvox"
    assert tone.created > 1_700_000_000


async def test_a_crash_at_the_start_is_logged_and_its_details_kept_from_callers() -> None:
    models = registry(ToneEngine(), ToneEngine("other", start_error=ValueError("secret path")))
    with capture_logs() as lines:
        await models.start()
    assert "secret path" not in models.model("other").reason
    assert any(line.get("exc_info") and line["model"] == "other" for line in lines)


async def test_a_factory_that_fails_is_treated_as_a_failed_start() -> None:
    def broken(_: object) -> ToneEngine:
        raise missing_bundle()

    models = Registry(tone_settings(), {"tone": broken})
    await models.start()
    assert "polyvox pull" in models.model("tone").reason
    await models.close()


async def test_models_start_concurrently() -> None:
    meeting = asyncio.Barrier(2)

    class Meeting(ToneEngine):
        async def start(self) -> None:
            await meeting.wait()

    models = registry(Meeting("one"), Meeting("two"))
    async with asyncio.timeout(2):
        await models.start()
    assert [model.available for model in models.models()] == [True, True]


async def test_while_it_loads_a_model_is_not_available() -> None:
    models = registry(ToneEngine())
    with pytest.raises(UnavailableError, match="still loading"):
        models.engine("tone")


async def test_voices_are_those_of_the_named_model() -> None:
    models = registry(ToneEngine())
    await models.start()
    assert [voice.id for voice in models.voices()] == ["low", "high"]
    assert models.voices("tts-1") == models.voices("tone")


async def test_engines_that_can_be_observed_are_observed_before_they_start() -> None:
    busy = BusyEngine(burn=0.0)
    models = registry(busy, ToneEngine())
    reports: list[object] = []
    await models.start(reports.append)
    await busy._stage(0.0)
    await models.close()
    assert len(reports) == 1


async def test_closing_closes_every_engine_even_those_that_could_not_start_or_cannot_close() -> None:
    class Stuck(ToneEngine):
        async def close(self) -> None:
            raise ValueError("stuck")

    tone, failed, stuck = ToneEngine(), ToneEngine("failed", start_error=missing_bundle()), Stuck("stuck")
    models = registry(tone, stuck, failed)
    await models.start()
    with capture_logs() as lines:
        await models.close()
    assert tone.is_closed
    assert failed.is_closed
    assert [line["model"] for line in lines if line["log_level"] == "error"] == ["stuck"]
    with pytest.raises(UnavailableError, match="shutting down"):
        models.engine("tone")


async def test_settings_that_name_no_engine_are_refused_at_once() -> None:
    with pytest.raises(InvalidRequestError, match="no model 'typo'; this version knows tone") as caught:
        Registry(tone_settings(models=["tone", "typo"]), {"tone": lambda _: ToneEngine()})
    assert caught.value.field == "models"
    with pytest.raises(InvalidRequestError, match="'other' is not loaded") as caught:
        Registry(tone_settings(default_model="other"), {"tone": lambda _: ToneEngine()})
    assert caught.value.field == "default_model"
