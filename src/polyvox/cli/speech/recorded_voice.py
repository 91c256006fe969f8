"""The voice of a recording in a command: checked, and given to an installed model that clones."""

import asyncio

from polyvox.bundles.offer import offer
from polyvox.config import Settings
from polyvox.container_image import pull_hint
from polyvox.engines.catalog import Catalog
from polyvox.errors import InvalidRequestError, NotServedError, PolyvoxError
from polyvox.service.registry.cloning_choice import CloningModel, best_to_clone
from polyvox.service.voices.transcriber import ASR_BUNDLE, Transcriber
from polyvox.service.voices.voice_store import AsyncVoiceStore
from polyvox.voices.limits import PromptLimits
from polyvox.voices.recording.intake import RecordingIntake
from polyvox.voices.records import SHARED_OWNER, VoiceRecord
from polyvox.voices.storage.location import location_of
from polyvox.voices.styles import style_model


def model_for_recording(model: str | None, language: str | None, settings: Settings) -> str:
    """The model that speaks in the voice of a recording: the one asked for, else the best that is installed.

    That is one that needs no transcript, where there is one. `NotServedError` names the command that gets a model, with
    its licence and size.
    """
    catalog = Catalog.installed()
    if model is not None:
        if not catalog.spec(model).bare_outline(model).cloning:
            advice = "leave --model out, and one that can is chosen"
            raise InvalidRequestError(f"The model {model!r} cannot clone voices; {advice}.", field="model")
        return model
    best = best_to_clone(_installed(catalog, settings), (language or "").lower(), worded=False)
    if best is None:
        raise NotServedError(_remedy(catalog), field="voice")
    if not best.wordless and not (settings.models_dir / ASR_BUNDLE).is_dir():
        raise NotServedError(
            f"The model {best.name!r} needs the words of the recording, and what writes them down is missing; run: "
            f"{pull_hint(ASR_BUNDLE)} ({offer(ASR_BUNDLE)}).",
            field="voice",
        )
    return best.name


def model_for_registered(name: str, language: str | None, settings: Settings) -> str | None:
    """The installed model for a registered voice that the default one cannot speak; None leaves it to that one."""
    catalog = Catalog.installed()
    outline = catalog.outline(settings.default_model, settings)
    if outline.cloning or any(voice.id == name for voice in outline.voices):
        return None
    record = asyncio.run(_registered(name, settings))
    if record is None or style_model(record.report) is not None:
        return None
    spoken = (language or record.language).lower()
    best = best_to_clone(_installed(catalog, settings), spoken, worded=bool(record.transcript))
    return None if best is None else best.name


async def _registered(name: str, settings: Settings) -> VoiceRecord | None:
    store = AsyncVoiceStore(location_of(settings))
    try:
        return await store.find(name, SHARED_OWNER)
    finally:
        await store.close()


async def check_recording(data: bytes, settings: Settings) -> None:
    """Refuse a recording that no voice can be made of, before a model is loaded."""
    try:
        await RecordingIntake(settings, Transcriber(settings)).take(data, PromptLimits.of(settings))
    except PolyvoxError as error:
        error.field = error.field or "voice"
        raise


def _installed(catalog: Catalog, settings: Settings) -> list[CloningModel]:
    outlines = {model: spec.bare_outline(model) for spec in catalog.specs for model in spec.models}
    return [
        CloningModel(model, outline.wordless, outline.languages, resident=model == settings.default_model)
        for model, outline in outlines.items()
        if outline.cloning and not catalog.absence(model, settings)
    ]


def _remedy(catalog: Catalog) -> str:
    found = catalog.first_to_clone
    if found is None:
        return "No model that clones voices is installed, and no installed engine has one."
    spec, model = found
    about = offer(spec.bundle_of(model))
    spec.check_installed()
    return (
        f"No model that clones voices is installed; run: {pull_hint(spec.bundle_of(model))}"
        f"{f' ({about})' if about else ''}."
    )
