"""Recognisers as models of OpenAI's list."""

import asyncio
from typing import Any

from polyvox.service.listening.recognisers import ALIASES, ListeningModel, Recognisers
from polyvox.service.speech import SpeechService
from polyvox.voices.recognition.recogniser import RecognitionTask

_TASK = "automatic-speech-recognition"


async def listed_recognisers(service: SpeechService) -> list[dict[str, Any]]:
    """The recognisers that are installed, and behind them the name that stands for whichever fits.

    `root` is another name than the id: clients that look for models by their own names look for speech.
    """
    created = service.registry.model(None).created
    return await asyncio.to_thread(_listed, service.listening.recognisers, created)


def _listed(recognisers: Recognisers, created: int) -> list[dict[str, Any]]:
    installed = recognisers.installed()
    if not installed:
        return []
    first = recognisers.choose(None, RecognitionTask()).model
    names = [(each.name, each.origin, each) for each in installed] + [(ALIASES[0], first.name, first)]
    return [
        {**_entry(model_id, root, each), "created": created, "loaded": recognisers.is_loaded(each)}
        for model_id, root, each in names
    ]


def _entry(model_id: str, root: str, model: ListeningModel) -> dict[str, Any]:
    return {
        "id": model_id,
        "object": "model",
        "owned_by": model.origin.partition("/")[0],
        "root": root,
        "available": True,
        "reason": "",
        "capabilities": None,
        "task": _TASK,
        "languages": sorted(model.languages),
    }
