"""From a request to the plan of its session: its kind, markup, voice, pronunciation, and its key in the cache."""

from collections.abc import Callable
from dataclasses import replace

from polyvox.config import Settings
from polyvox.engines.base import Engine
from polyvox.errors import InvalidRequestError, TextError
from polyvox.provenance.notary import Notary
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.cache.model_fingerprint import ModelFingerprints
from polyvox.service.cache.speech_cache import SpeechCache, SpeechKey
from polyvox.service.cache.speech_key import speech_key
from polyvox.service.call_context import CallContext
from polyvox.service.kinds.request_kind import CollectsWarnings, SpeakText, TakesPronunciation
from polyvox.service.kinds.script_reader import ScriptReader
from polyvox.service.pronunciation.dictionaries import Dictionaries
from polyvox.service.pronunciation.pronunciation import Pronunciation
from polyvox.service.registry.registry import Registry
from polyvox.service.request_checks import adapted, check_numbers, check_with, delivery_of, with_code_blocks
from polyvox.service.session_plan import SessionPlan
from polyvox.service.speech_request import PhonemeNeed, SpeechOutput, SpeechRequest
from polyvox.service.text_limits import TextLimits
from polyvox.service.words.timed_engine import timed_engine
from polyvox.service.words.word_timer import WordTimer
from polyvox.text.warnings import Warnings
from polyvox.types import SPEED_RANGE, CodeBlocks, Utterance

_ESTIMATE_ERROR = 1.25
_ANY_TEXT = "a"
"""In place of a text that is not there yet."""


class SessionPlanner:
    """Reads requests and looks up what they name; the plan of a session depends on nothing else.

    `least_seconds` is the time that a model needs at least for so many seconds of audio, 0 while that is not known.
    """

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        limits: TextLimits,
        least_seconds: Callable[[str, float], float],
        dictionaries: Dictionaries,
        cache: SpeechCache,
        fingerprints: ModelFingerprints,
        executor: DeviceExecutor,
        notary: Notary,
        timing_threads: int,
    ) -> None:
        self._settings = settings
        self._registry = registry
        self._limits = limits
        self._least_seconds = least_seconds
        self._dictionaries = dictionaries
        self._cache = cache
        self._executor = executor
        self._fingerprints = fingerprints
        self._notary = notary
        self._timer = WordTimer(settings)
        self._timing_executor = DeviceExecutor("polyvox-words", timing_threads)

    def close(self) -> None:
        """End the threads that time words; blocks."""
        self._timing_executor.close()

    def check_text(self, request: SpeechRequest, model: str, *, whole: bool) -> None:
        """Refuse a text beyond the limits, and one whose whole answer cannot be ready in time."""
        if request.kind is not None or request.resolve_kind is not None:
            return
        utterance, deadline = request.utterance, self._settings.deadline_seconds
        speed = utterance.speed if utterance.speed in SPEED_RANGE else 1.0
        seconds = self._limits.check(utterance.text, speed)
        needed = self._least_seconds(model, seconds)
        if whole and needed > deadline * _ESTIMATE_ERROR:
            raise TextError(
                f"The text takes about {seconds / 60:,.0f} minutes to speak, and this server at least {needed:,.0f} s "
                f"to make them; a request may take {deadline:g} s. Ask for a stream, or send the text in parts.",
                field="input",
            )

    async def check(self, request: SpeechRequest, call: CallContext) -> None:
        """Refuse numbers out of range and dictionaries that are not there, before a model is loaded."""
        check_numbers(request)
        await self._pronunciation(request, call)

    async def output(self, request: SpeechRequest, model: str, engine: Engine) -> SpeechOutput:
        """The form of a request's audio, whose text may come later; the rest of it is checked with the engine."""
        warnings, utterance = Warnings(), replace(request.utterance, text=_ANY_TEXT)
        self._check_phonemes(request, engine, warnings)
        if not utterance.voice:
            usual = self._registry.default_voice(model, instructed=bool(utterance.instructions))
            utterance = replace(utterance, voice=usual)
        voice = None if request.resolve_voice is None else await request.resolve_voice()
        utterance = adapted(utterance, engine, warnings)
        if voice is None:
            check_with(engine, utterance, SpeakText(_ANY_TEXT, utterance.speed), "")
        elif not voice.native:
            self._registry.check_cloning(engine)
        form = delivery_of(request, engine)
        return SpeechOutput(model, form.sample_rate, form.channels, warnings.sentences)

    async def plan(
        self, request: SpeechRequest, call: CallContext, session_id: str, model: str, engine: Engine, *, whole: bool
    ) -> SessionPlan:
        """The plan of a session with a model that is loaded; the typed error for what cannot be spoken.

        The engine is checked here where the voice is its own, and with the prepared voice otherwise.
        """
        if request.resolve_kind is not None:
            request = replace(request, kind=await request.resolve_kind())
        warnings = request.kind.warnings if isinstance(request.kind, CollectsWarnings) else Warnings()
        for sentence in request.warnings:
            warnings.add(sentence)
        self._check_phonemes(request, engine, warnings)
        request = await self._read(request, call, engine, warnings)
        if not request.utterance.voice:
            usual = self._registry.default_voice(model, instructed=bool(request.utterance.instructions))
            request = replace(request, utterance=replace(request.utterance, voice=usual))
        voice = None if request.resolve_voice is None else await request.resolve_voice()
        utterance = self._utterance(request, engine, warnings, whole=whole)
        kind = request.kind or SpeakText(utterance.text, request.utterance.speed)
        if voice is None:
            check_with(engine, utterance, kind, session_id)
        else:
            if not voice.native:
                self._registry.check_cloning(engine)
            utterance = replace(utterance, voice=voice.label)
        patient = whole or isinstance(kind, SpeakText)
        speaking = self._timed(engine, patient=patient) if request.words else engine
        longest = self._settings.deadline_seconds
        plan = SessionPlan(
            id=session_id,
            door=request.door,
            call=call,
            model=model,
            engine=speaking,
            utterance=utterance,
            kind=kind,
            voice=voice,
            delivery=replace(delivery_of(request, engine), watermark=self._notary.watermark),
            warnings=warnings,
            key=None,
            cached=None,
            marks=None,
            bare_wav=request.bare_wav or self._settings.provenance_bare_wav,
            buffer=self._settings.session_buffer,
            deadline=min(longest, request.deadline or longest),
            stall=self._settings.stall_seconds,
        )
        timing = "" if speaking is engine else f"timed {patient}"
        speech = self._identity(plan, request, engine, timing)
        if self._caches(call):
            weights = await self._fingerprints.of(model, engine)
            key = self._key(plan, request, engine, timing, weights)
            plan = plan if key is None else await self._with_cached(plan, key)
        created = None if plan.cached is None else plan.cached.created
        marks = self._notary.marks(session_id, model, None if speech is None else speech.digest, created)
        return replace(plan, marks=marks)

    async def _read(
        self, request: SpeechRequest, call: CallContext, engine: Engine, warnings: Warnings
    ) -> SpeechRequest:
        """The request with the kind that its text's markup and its dictionaries ask for, if there are any."""
        pronunciation, kind = await self._pronunciation(request, call), request.kind
        if kind is None:
            reader = ScriptReader(engine, self._settings, self._limits, self._executor)
            kind = await reader.kind(request.utterance, request.markup, warnings, pronunciation)
        elif pronunciation is not None and isinstance(kind, TakesPronunciation):
            kind = await kind.pronounced(pronunciation, engine, request.utterance)
        return replace(request, kind=kind)

    def _utterance(self, request: SpeechRequest, engine: Engine, warnings: Warnings, *, whole: bool) -> Utterance:
        """The request's utterance as the engine can speak it."""
        check_numbers(request)
        chosen = with_code_blocks(request.utterance, CodeBlocks(self._settings.code_blocks))
        phonemes = request.phonemes is not PhonemeNeed.NONE
        return adapted(replace(chosen, whole=whole or chosen.whole, phonemes=phonemes), engine, warnings)

    async def _pronunciation(self, request: SpeechRequest, call: CallContext) -> Pronunciation | None:
        """The request's dictionaries; None where it has none."""
        store = self._dictionaries
        lexicon = await store.lexicon(request.dictionary_names, call.owner, request.dictionaries)
        return None if lexicon is None else Pronunciation(store, lexicon, call.owner, self._settings.max_input_chars)

    def _timed(self, engine: Engine, *, patient: bool) -> Engine:
        """The engine with word timings, its own or those of the server, as the settings allow."""
        if engine.capabilities.word_timings or self._settings.word_timings == "durations":
            return engine
        return timed_engine(engine, self._timer, self._timing_executor, patient=patient)

    def _check_phonemes(self, request: SpeechRequest, engine: Engine, warnings: Warnings) -> None:
        """Refuse phonemes with times of an engine that has none, or warn where the caller can do without."""
        lacks = "" if request.phonemes is PhonemeNeed.NONE else self._registry.without_phoneme_times(engine)
        if lacks and request.phonemes is PhonemeNeed.REQUIRED:
            raise InvalidRequestError(lacks, field="timestamps")
        if lacks:
            warnings.add(lacks)

    def _key(
        self, plan: SessionPlan, request: SpeechRequest, engine: Engine, timing: str, fingerprint: str
    ) -> SpeechKey | None:
        """The key of the plan's speech by a model of that fingerprint; None where it is new each time."""
        return speech_key(
            owner=plan.call.owner,
            settings=self._settings,
            engine=engine,
            fingerprint=fingerprint,
            utterance=plan.utterance,
            kind=plan.kind,
            voice=plan.voice,
            delivery=plan.delivery,
            timing=timing,
            request=request,
        )

    def _identity(self, plan: SessionPlan, request: SpeechRequest, engine: Engine, timing: str) -> SpeechKey | None:
        """The key of the content id: by the model's name, since it is the same with a cache and without."""
        voice = plan.voice
        if voice is not None and not voice.content and voice.identity:
            plan = replace(plan, voice=replace(voice, content=voice.identity))
        return self._key(plan, request, engine, timing, plan.model)

    def _caches(self, call: CallContext) -> bool:
        return self._cache.enabled and call.use_cache

    async def _with_cached(self, plan: SessionPlan, key: SpeechKey) -> SessionPlan:
        """The plan with what the cache holds for it."""
        cached = await self._cache.find(key)
        if cached is not None:
            for sentence in cached.warnings:
                plan.warnings.add(sentence)
        return replace(plan, key=key, cached=cached)
