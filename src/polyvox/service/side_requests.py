"""Requests that speak nothing: the phonemes of a text, SSML as inline tags, a mix of voices."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from polyvox.engines.base import SupportsMixing, SupportsPhonemes
from polyvox.errors import InvalidRequestError, MarkupError, TextError
from polyvox.service.admission.side_work import SideWork
from polyvox.service.keys.access import Access
from polyvox.service.keys.operations import Operation
from polyvox.service.kinds.script_reader import ssml_rules
from polyvox.service.registry.model_loader import Hold
from polyvox.service.text_limits import TextLimits
from polyvox.text.grapheme_frontend import GraphemeFrontend
from polyvox.text.markup import ssml
from polyvox.text.warnings import Warnings
from polyvox.types import NormalizationOptions

Answer = TypeVar("Answer")


class SideRequests:
    """Answers them on the threads of side work, with models that `hold` keeps loaded meanwhile."""

    def __init__(
        self, hold: Callable[[str | None], Awaitable[Hold]], work: SideWork, limits: TextLimits, access: Access
    ) -> None:
        self._access = access
        self._hold = hold
        self.work = work
        self._limits = limits

    async def phonemize(
        self, text: str, language: str, model: str | None, answer: Callable[[str, list[int]], Answer], *, owner: str
    ) -> Answer:
        """Let `answer` write, on a thread, the phonemes and token ids of a text."""
        self._access.require(Operation.READ_TEXT, owner)
        self.work.check_text(text, "text")
        if not text.strip():
            raise TextError("The text is empty; send some words.", field="text")
        with await self._hold(model) as held:
            engine = held.engine
            if not isinstance(engine, SupportsPhonemes):
                raise InvalidRequestError(f"The model {engine.name!r} does not work with phonemes.", field="model")
            return await self.work.run(lambda: answer(*engine.phonemize(text, language)))

    async def normalized(self, text: str, options: NormalizationOptions, *, owner: str) -> list[str]:
        """The blocks of a text as a model that reads letters is given them."""
        self._access.require(Operation.READ_TEXT, owner)
        self.work.check_text(text, "input")
        return await self.work.run_pieces(partial(GraphemeFrontend().normalized_blocks, text, options))

    async def translate_ssml(
        self, text: str, voice: str | None, model: str | None, *, owner: str
    ) -> tuple[str, Warnings]:
        """A text in SSML as one with inline tags, and warnings of what the tags cannot say."""
        self._access.require(Operation.READ_TEXT, owner)
        self.work.check_text(text, "text")
        with await self._hold(model) as held:
            rules, warnings = ssml_rules(held.engine), Warnings()
        try:
            script = await self.work.run(lambda: ssml.parse(text, rules, warnings))
        except MarkupError as error:
            error.field = "text"
            raise
        self._limits.check_pauses(script.silence_seconds, "text")
        return script.tagged(voice), warnings

    async def mixed_voice(
        self, expression: str, model: str | None, answer: Callable[[npt.NDArray[np.float32]], Answer], *, owner: str
    ) -> Answer:
        """Let `answer` write, on a thread, the blend of voices named by a mix expression."""
        self._access.require(Operation.MIX_VOICES, owner)
        with await self._hold(model) as held:
            engine = held.engine
            if not isinstance(engine, SupportsMixing):
                raise InvalidRequestError(f"The voices of model {engine.name!r} cannot be mixed.", field="model")
            return await self.work.run(lambda: answer(engine.mixed_voice(expression)))
