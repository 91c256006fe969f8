"""Reads the markup of a request's text, and makes the request kind that speaks it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from polyvox.config import Settings
from polyvox.engines.base import Engine
from polyvox.errors import ForbiddenError, InvalidRequestError, MarkupError, UnknownVoiceError
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.kinds.request_kind import RequestKind
from polyvox.service.kinds.script import SpeakScript
from polyvox.service.kinds.voice_aliases import VoiceAlias, VoiceAliases
from polyvox.service.pronunciation.pronunciation import Pronunciation
from polyvox.service.text_limits import TextLimits
from polyvox.service.voices.voice_resolver import ResolvedVoice
from polyvox.text.markup import inline_tags, ssml
from polyvox.text.markup.inline_tags import TagRules
from polyvox.text.markup.markup import check as check_inserts
from polyvox.text.markup.markup import placed
from polyvox.text.markup.script import Part, Passage, Script, Style
from polyvox.text.markup.ssml import SsmlRules
from polyvox.text.warnings import IGNORED, Warnings
from polyvox.types import SPEED_RANGE, Utterance
from polyvox.voices.mixing import parse_mix

_PROBE = "a"
_LONG_TEXT = 5_000
"""Characters above which a text is read on a thread."""

T = TypeVar("T")

ResolveVoice = Callable[[str], Awaitable[ResolvedVoice | None]]


@dataclass(frozen=True, slots=True)
class MarkupRequest:
    """The markup of a text that is obeyed; None leaves it to the server's settings.

    `resolve_voice` looks up a voice that the markup names and that is not the engine's own. `rate` is the pace of the
    request's voice, where an alias gives it one; another voice of the text has its own. `ssml` says that the text is
    SSML or that it is none; None takes one for it that begins with `<speak`. With `all_voices` a text that names an
    unknown voice is refused; otherwise that name is ignored, with a warning.
    """

    voice_tags: bool | None = None
    aliases: VoiceAliases = field(default_factory=VoiceAliases)
    resolve_voice: ResolveVoice | None = None
    rate: float = 1.0
    ssml: bool | None = None
    all_voices: bool = False


def check_voice_tags(settings: Settings) -> None:
    """Refuse a request for voice tags where the server obeys none."""
    if settings.refuse_voice_tags:
        raise ForbiddenError("Voice tags are off on this server, by its setting refuse_voice_tags.")


def tag_rules(engine: Engine, *, voice_tags: bool = False) -> TagRules:
    """The rules for a text's markup with this engine."""
    can = engine.capabilities
    return TagRules(can.tags, can.reads_markup, voice_tags)


def ssml_rules(engine: Engine) -> SsmlRules:
    """The rules for SSML with this engine."""
    can = engine.capabilities
    phonemes = can.phonemes and can.reads_markup
    return SsmlRules(tag_rules(engine), can.languages, phonemes, can.word_timings)


class ScriptReader:
    """Reads texts for one engine."""

    def __init__(self, engine: Engine, settings: Settings, limits: TextLimits, executor: DeviceExecutor) -> None:
        self._engine = engine
        self._settings = settings
        self._limits = limits
        self._executor = executor

    async def kind(
        self,
        utterance: Utterance,
        markup: MarkupRequest,
        warnings: Warnings,
        pronunciation: Pronunciation | None = None,
    ) -> RequestKind | None:
        """The kind that speaks the text as its markup and dictionaries say; None where it is spoken just as it is."""
        if pronunciation is None and _is_plain(utterance.text, markup):
            return None
        script = await self._on_thread(utterance.text, partial(self._parsed, utterance.text, markup, warnings))
        if script.plain and pronunciation is None:
            return None
        self._limits.check_pauses(script.silence_seconds, "input")
        script, resolved = await self._cast(script, utterance, markup, warnings)
        if pronunciation is not None:
            script = await self._pronounced(script, utterance, pronunciation, warnings)
            await self._on_thread(script.text, partial(self._check_inserts, script))
            if script.plain:
                return None
        return SpeakScript(script, resolved, utterance.speed, self._executor, warnings)

    async def _on_thread(self, text: str, read: Callable[[], T]) -> T:
        """Result of reading a text, which takes as long as the text is."""
        return read() if len(text) < _LONG_TEXT else await asyncio.to_thread(read)

    def _parsed(self, text: str, markup: MarkupRequest, warnings: Warnings) -> Script:
        """The script of a text; `MarkupError` for all of it, before a word is spoken."""
        try:
            script = self._read(text, markup, warnings)
        except MarkupError as error:
            raise placed(error, text) from error
        self._check_inserts(script)
        return script

    def _check_inserts(self, script: Script) -> None:
        """Refuse what the model's frontend would refuse when it comes to a passage, in the midst of the speech."""
        if not self._engine.capabilities.reads_markup:
            return
        try:
            for passage in script.passages:
                check_inserts(passage.text)
        except MarkupError as error:
            raise placed(error, script.raw) from error

    def _read(self, text: str, markup: MarkupRequest, warnings: Warnings) -> Script:
        if markup.voice_tags:
            check_voice_tags(self._settings)
        allowed = self._settings.allow_ssml
        if markup.ssml and not allowed:
            raise ForbiddenError("SSML is off on this server; its setting allow_ssml turns it on.")
        if allowed and markup.ssml:
            return ssml.parse(text, ssml_rules(self._engine), warnings, markup.rate)
        if allowed and markup.ssml is None and ssml.is_ssml(text):
            found = Warnings()
            try:
                script = ssml.parse(text, ssml_rules(self._engine), found, markup.rate)
            except MarkupError as error:  # nobody said that it is SSML
                warnings.add(f"The text begins like SSML, but its tags were dropped. {error.message}")
            else:
                warnings.extend(found)
                return script
        voice_tags = self._settings.allow_voice_tags if markup.voice_tags is None else markup.voice_tags
        voice_tags = voice_tags and not self._settings.refuse_voice_tags
        return inline_tags.parse(text, tag_rules(self._engine, voice_tags=voice_tags), warnings, markup.rate)

    async def _pronounced(
        self, script: Script, utterance: Utterance, pronunciation: Pronunciation, warnings: Warnings
    ) -> Script:
        """The script with what the dictionaries say."""
        parts: list[Part] = []
        for part in script.parts:
            if isinstance(part, Passage):
                language, voice = part.style.language or utterance.language, part.style.voice or utterance.voice
                text = await pronunciation.rewrite(part.text, self._engine, language, voice, warnings)
                parts.append(replace(part, text=text))
            else:
                parts.append(part)
        found = replace(script, parts=tuple(parts))
        if len(found.text) > len(script.text):
            self._limits.check(found.text, utterance.speed if utterance.speed in SPEED_RANGE else 1.0)
        return found

    async def _cast(
        self, script: Script, utterance: Utterance, markup: MarkupRequest, warnings: Warnings
    ) -> tuple[Script, dict[str, ResolvedVoice]]:
        """The script with the voices that there are, and those of them that have to be prepared."""
        resolved: dict[str, ResolvedVoice] = {}
        found: dict[str, VoiceAlias] = {}
        for name in script.voices:
            alias = markup.aliases.find(name) or VoiceAlias(name)
            if len(found) == self._settings.dialogue_max_voices:
                if markup.all_voices:
                    raise InvalidRequestError(f"A text may name {len(found)} voices; name fewer.", field="input")
                warnings.add(f"A text may have {len(found)} further voices; those named later are ignored.")
                break
            if await self._exists(alias.voice, utterance, markup, resolved):
                found[name] = alias
            elif markup.all_voices:
                raise UnknownVoiceError(
                    f"There is no voice {alias.voice[:80]!r}, which the text names; GET /v1/audio/voices lists them.",
                    field="input",
                )
            else:
                warnings.count(IGNORED, f"[voice:{name}]")
        parts = tuple(
            replace(part, style=_with_voice(part.style, found)) if isinstance(part, Passage) else part
            for part in script.parts
        )
        return replace(script, parts=parts), resolved

    async def _exists(
        self, voice: str, utterance: Utterance, markup: MarkupRequest, resolved: dict[str, ResolvedVoice]
    ) -> bool:
        """Return whether there is such a voice; one that has to be prepared goes to `resolved`."""
        try:
            found = None if markup.resolve_voice is None else await markup.resolve_voice(voice)
            if found is None:
                self._engine.check(replace(utterance, text=_PROBE, voice=voice, prepared=None))
                return self._is_listed(voice)
            resolved[voice] = found
        except InvalidRequestError as error:
            if error.field not in ("voice", "model"):
                raise
            return False
        return True

    def _is_listed(self, voice: str) -> bool:
        """Return whether the engine lists a voice, or all of a mix; a remote one cannot check before it speaks."""
        known = {listed.id for listed in self._engine.voices} | self._settings.aliases.keys()
        mixed = parse_mix(voice) if self._engine.capabilities.voice_mixing and voice not in known else ()
        return all(term.voice in known for term in mixed) if mixed else not self._engine.voices or voice in known


def _is_plain(text: str, markup: MarkupRequest) -> bool:
    """True if nothing in a text can be markup, and nothing is asked of how it is read."""
    asked = markup.ssml or markup.voice_tags or markup.rate != 1.0
    return text != "" and not asked and not inline_tags.may_begin_in(text)


def _with_voice(style: Style, found: Mapping[str, VoiceAlias]) -> Style:
    """The style with the voice that its name stands for; in the request's own where there is no such voice."""
    if style.voice is None:
        return style
    alias = found.get(style.voice)
    if alias is None:
        return replace(style, voice=None)
    rate = min(max(style.rate * alias.rate, SPEED_RANGE.lowest), SPEED_RANGE.highest)
    return replace(style, voice=alias.voice, rate=rate)
