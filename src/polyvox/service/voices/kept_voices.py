"""Voices that are kept without a recording of a speaker: mixes of built-in voices, and imported voice packs."""

from dataclasses import replace
from functools import partial

from polyvox.config import Settings
from polyvox.container_image import pull_hint
from polyvox.engines.spec import PresetPrompt
from polyvox.errors import ConflictError, ForbiddenError, InvalidRequestError, NotServedError, UnknownVoiceError
from polyvox.service.keys.operations import Operation
from polyvox.service.voices.preset_prompts import MixedStyle
from polyvox.service.voices.voices import Registered, Transcribe, VoiceService
from polyvox.types import VoicePrompt
from polyvox.voices.records import VoiceDetails
from polyvox.voices.references import InlineVoice
from polyvox.voices.storage.recordings import wav_bytes
from polyvox.voices.style_packs import VoicePack, read_pack
from polyvox.voices.styles import PackReference, mix_report, pack_report

_ENGLISH = "en-us"


class KeptVoices:
    """Registers styles of the model with built-in voices. Each speaks a sentence, which is its recording.

    So a kept voice is listed, owned, limited and deleted as every registered voice, and models that clone can speak
    with it too.
    """

    def __init__(self, settings: Settings, voices: VoiceService) -> None:
        self._settings = settings
        self._voices = voices

    async def keep_mix(self, mix: str, details: VoiceDetails, owner: str, *, replacing: bool = False) -> Registered:
        """Register a mix of built-in voices under a name."""
        await self._check(details, owner, replacing=replacing)
        preset = self._voices.presets.find(mix)
        if preset is None:
            raise UnknownVoiceError(
                f"{mix[:80]!r} is not a mix of built-in voices such as 'af_heart(2)+bf_emma(1)'.", field="mix"
            )
        async with self._voices.keeping:
            prompt = await self._voices.presets.prompt(preset, await self._voices.presets.digest(preset))
        return await self._register(prompt, preset, details, owner, mix_report(self._model, mix), replacing=replacing)

    async def keep_pack(self, data: bytes, details: VoiceDetails, owner: str, *, replacing: bool = False) -> Registered:
        """Register a `.pt` voice pack under a name; the pack is stored as safetensors."""
        await self._check(details, owner, replacing=replacing)
        if self._settings.voice_database is not None:
            raise ForbiddenError(
                "Voice packs are files of one machine, and this server keeps its voices in voice_database; keep a mix, "
                "or fit the voice to a recording."
            )
        pack = await self._voices.run(partial(read_pack, data))
        preset = self._voices.presets.any_of(details.language or _ENGLISH)
        if preset is None:
            raise NotServedError(f"Voice packs need their model; run: {pull_hint(self._model)}", field="pack")
        preset = replace(preset, voice=details.name or "")
        async with self._voices.keeping:
            style, presets = MixedStyle((), pack), self._voices.presets
            prompt = await presets.prompt(preset, await presets.digest(preset, style), style)
        return await self._register_pack(pack, prompt, preset, details, owner, replacing=replacing)

    async def _register_pack(
        self,
        pack: VoicePack,
        prompt: VoicePrompt,
        preset: PresetPrompt,
        details: VoiceDetails,
        owner: str,
        *,
        replacing: bool,
    ) -> Registered:
        name, digest = await self._voices.run(partial(self._voices.packs.write, pack))
        report = pack_report(PackReference(self._model, name, digest))
        try:
            return await self._register(prompt, preset, details, owner, report, replacing=replacing)
        except BaseException:
            await self._voices.forget_file(name)
            raise

    async def _register(
        self,
        prompt: VoicePrompt,
        preset: PresetPrompt,
        details: VoiceDetails,
        owner: str,
        style: dict[str, object],
        *,
        replacing: bool,
    ) -> Registered:
        described = replace(details, transcript=prompt.transcript, language=details.language or preset.language)
        recording = InlineVoice(await self._voices.run(partial(wav_bytes, prompt.pcm, prompt.sample_rate)))
        return await self._voices.register(
            recording, described, owner, transcribe=Transcribe.NONE, replacing=replacing, style=style
        )

    @property
    def _model(self) -> str:
        return self._voices.presets.model or ""

    async def _check(self, details: VoiceDetails, owner: str, *, replacing: bool) -> None:
        """Refuse before any work what could not be registered."""
        self._voices.access.require(Operation.CHANGE_VOICES, owner)
        if details.name is None:
            raise InvalidRequestError("'name' is required.", field="name")
        if details.name in self._voices.presets.names:
            raise ConflictError(f"{details.name!r} is a built-in voice; choose another name.", field="name")
        if not replacing:
            await self._voices.check_free(details.name, owner)
