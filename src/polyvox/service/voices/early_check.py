"""The check of a voice's name before its model is loaded, which takes seconds."""

from collections.abc import Sequence

from polyvox.config import Settings
from polyvox.engines.catalog import Catalog
from polyvox.errors import UnknownVoiceError
from polyvox.service.voices.voice_store import AsyncVoiceStore
from polyvox.suggestions import nearest
from polyvox.types import Voice
from polyvox.voices.mixing import parse_mix
from polyvox.voices.storage.location import location_of


async def check_voice(name: str, owner: str, model: str, catalog: Catalog, settings: Settings) -> None:
    """Refuse a voice, or a part of a mix, that a model with voices of its own cannot have.

    A model that clones, or whose voices are known once it is loaded, decides for itself then.
    """
    outline = catalog.spec(model).outline(model, settings)
    if not name or outline.cloning or not outline.voices:
        return
    own = {voice.id for voice in outline.voices}
    store = AsyncVoiceStore(location_of(settings))
    try:
        if name in own or name in settings.aliases or await store.find(name, owner) is not None:
            return
        for term in parse_mix(name):
            known = term.voice in own or term.voice in settings.aliases
            if not known and await store.find(term.voice, owner) is None:
                raise unknown_voice(term.voice, outline.voices)
    finally:
        await store.close()


def unknown_voice(wanted: str, voices: Sequence[Voice]) -> UnknownVoiceError:
    """The refusal of a name, with the nearest of the voices that there are."""
    close = nearest_voice(wanted, voices)
    meant = "" if close is None else f"did you mean {close!r}? "
    return UnknownVoiceError(
        f"There is no voice {wanted[:80]!r}; {meant}`polyvox voices` lists them all.", field="voice"
    )


def nearest_voice(wanted: str, voices: Sequence[Voice]) -> str | None:
    """The id of the voice whose id or name is most like a word; None where none is."""
    names = {voice.name.lower(): voice.id for voice in reversed(voices)} | {voice.id: voice.id for voice in voices}
    close = nearest(wanted, names)
    return None if close is None else names[close]
