"""Speaks the passages of a narration through the speech service, behind all live requests."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from typing import Final

import structlog

from polyvox.books.narration.options import NarrationOptions
from polyvox.books.narration.plan import Passage
from polyvox.errors import DeadlineError, EngineError, OverloadedError, QuotaError
from polyvox.service.call_context import CallContext
from polyvox.service.kinds.script_reader import MarkupRequest
from polyvox.service.pronunciation.pronunciation import Pronunciation, voice_language
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.voices.voice_resolver import VoiceResolver
from polyvox.text.detect import detect_language
from polyvox.text.tracked import TrackedText
from polyvox.text.warnings import Warnings
from polyvox.types import AudioChunk, Utterance
from polyvox.voices.references import RegisteredVoice

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_RETRY_SECONDS: Final = (1.0, 15.0)
_ATTEMPTS: Final = 3
"""Number of tries for a passage that the engine fails at."""


class Narrator:
    """The voice of a narration: `narration.narrate(narrator.speak)`.

    Passages are sessions of their own, each with its own seed, so how many are spoken at once does not change them.
    Voices are looked up as `owner`'s; `client` is whom the sessions are counted for, and charged unless it is not to
    be `charged`.
    """

    def __init__(
        self,
        service: SpeechService,
        resolver: VoiceResolver,
        options: NarrationOptions,
        *,
        owner: str,
        client: str,
        door: str,
        charged: bool = True,
    ) -> None:
        self._service = service
        self._resolver = resolver
        self._options = options
        self._owner = owner
        self._call = CallContext(
            client,
            owner,
            max_wait=service.settings.deadline_seconds / 2,
            use_cache=False,  # a narration keeps its speech itself
            background=True,
            charged=charged,
        )
        self._door = door

    async def check(self, voice: str | None = None) -> None:
        """Refuse a model, voice, language or speed with which nothing can be spoken, before a book is begun."""
        await self._service.output(await self._request(Passage("", voice, 0, self._options.seed)), self._call)

    async def speak(self, passage: Passage) -> AsyncIterator[AudioChunk]:
        """The chunks of a passage, when all of them are made; waits while the server has no room.

        `QuotaError` where the client has no quota left: that may take a day.
        """
        for chunk in await self._spoken(passage):
            yield chunk

    @property
    def draws(self) -> bool:
        """True if the model draws its speech, so that another seed gives another."""
        capabilities = self._service.registry.model(self._options.model).capabilities
        return capabilities is not None and capabilities.stochastic

    def again(self) -> "Narrator":
        """The same narrator for a passage that was charged for already."""
        return self._uncharged(self._options)

    def better(self) -> "Narrator | None":
        """A narrator with the server's better model and the same voice; None where this one has no better."""
        settings, registry, options = self._service.settings, self._service.registry, self._options
        if not settings.hd_model or registry.resolve(options.model) != settings.default_model:
            return None
        if settings.hd_model == settings.default_model or not registry.model(settings.hd_model).available:
            return None
        return self._uncharged(replace(options, voice=self._voice(None), model=settings.hd_model))

    def language(self, voice: str | None, text: str) -> str:
        """The language that a text is spoken in: that of the options, the voice's own, or else the text's."""
        registry, model = self._service.registry, self._options.model
        voices, languages = registry.voices(model), registry.model(model).languages
        name = self._voice(voice)
        own = voice_language(voices, self._service.settings.aliases.get(name, name))
        return self._options.language or own or detect_language(text, languages)

    async def wording(self, passage: Passage, language: str) -> str:
        """The text of a passage as the dictionaries of the narration have it spoken."""
        service, options = self._service, self._options
        lexicon = await service.dictionaries.lexicon(options.dictionaries, self._owner)
        if lexicon is None:
            return passage.text
        pronunciation = Pronunciation(service.dictionaries, lexicon, self._owner, service.settings.max_input_chars)
        text, voice = TrackedText.of(passage.text), self._voice(passage.voice)
        with await service.registry.hold(options.model) as held:
            return (await pronunciation.rewrite(text, held.engine, language, voice, Warnings())).text

    def _voice(self, voice: str | None) -> str:
        registry, options = self._service.registry, self._options
        return voice or options.voice or registry.default_voice(registry.resolve(options.model))

    def _uncharged(self, options: NarrationOptions) -> "Narrator":
        return Narrator(
            self._service,
            self._resolver,
            options,
            owner=self._owner,
            client=self._call.client,
            door=self._door,
            charged=False,
        )

    async def _spoken(self, passage: Passage) -> list[AudioChunk]:
        failed = 0
        while True:
            try:
                return await self._attempt(passage)
            except QuotaError:
                raise
            except OverloadedError as error:
                shortest, longest = _RETRY_SECONDS
                log.debug("narration waits", index=passage.index, reason=str(error.reason))
                await asyncio.sleep(min(longest, max(shortest, error.retry_after)))
            except (EngineError, DeadlineError):
                failed += 1
                if failed == _ATTEMPTS:
                    raise
                log.warning("passage failed, tried again", index=passage.index, attempt=failed)

    async def _attempt(self, passage: Passage) -> list[AudioChunk]:
        async with await self._service.open(await self._request(passage), self._call) as session:
            return [chunk async for chunk in session]

    def default_voice(self, language: str) -> str:
        """The voice of a book that names none: the model's own, or its first of the book's language where that differs.

        Empty where the model's own will do.
        """
        engine, model = self._service.registry.engine(self._options.model), self._options.model
        spoken = {voice.id: _primary(voice.language) for voice in engine.voices if not voice.reason}
        wanted, own = _primary(language), self._service.registry.default_voice(self._service.registry.resolve(model))
        if not wanted or spoken.get(own, wanted) == wanted:
            return ""
        return next((voice for voice, tongue in spoken.items() if tongue == wanted), "")

    async def _request(self, passage: Passage) -> SpeechRequest:
        options = self._options
        voice = passage.voice or options.voice
        reference = RegisteredVoice(voice)
        utterance = Utterance(
            passage.text, voice, language=options.language, speed=options.speed, seed=passage.seed, whole=True
        )
        model = await self._resolver.model_for(reference, self._owner, options.model, language=options.language)
        return SpeechRequest(
            utterance,
            model=model,
            door=self._door,
            resolve_voice=partial(self._resolver.resolve, reference, self._owner, model=model),
            markup=MarkupRequest(
                voice_tags=not self._service.settings.refuse_voice_tags,
                resolve_voice=self._resolver.by_name(self._owner, model),
            ),
            words=True,
            dictionary_names=options.dictionaries,
        )


def _primary(language: str) -> str:
    """The language of a tag, without its region."""
    return language.replace("_", "-").partition("-")[0].lower()
