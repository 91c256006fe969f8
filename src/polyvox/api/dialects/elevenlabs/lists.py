"""ElevenLabs' lists: voices, models, and the account that its clients ask for."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from polyvox.api.dependencies import Owner, Service, Voices
from polyvox.api.dialects.elevenlabs.requests import model_name
from polyvox.api.dialects.elevenlabs.voices import VOICE_SETTINGS, VoiceDirectory
from polyvox.api.requests.fields import PRINTABLE
from polyvox.errors import InvalidRequestError
from polyvox.service.registry.registry import ModelInfo
from polyvox.service.speech import SpeechService

shared = APIRouter(prefix="/v1", tags=["ElevenLabs"])
"""Lists whose paths other doors have too."""

own = APIRouter(tags=["ElevenLabs"])
"""Lists at paths that are this dialect's alone."""

ELEVENLABS_MODELS = (
    "eleven_multilingual_v2",
    "eleven_flash_v2_5",
    "eleven_turbo_v2_5",
    "eleven_flash_v2",
    "eleven_turbo_v2",
    "eleven_v3",
)
_MAX_FILTER_CHARS = 200
_NO_VOICE: dict[int | str, dict[str, Any]] = {404: {"description": "No such voice."}}


@shared.get("/voices")
async def list_voices(service: Service, voices: Voices, owner: Owner) -> dict[str, Any]:
    """All voices."""
    return {"voices": await VoiceDirectory.of(service, voices, owner).listed()}


@shared.get("/voices/settings/default")
async def default_settings() -> dict[str, Any]:
    """The settings of every voice."""
    return dict(VOICE_SETTINGS)


@shared.get("/voices/{voice_id}", responses=_NO_VOICE)
async def get_voice(voice_id: str, service: Service, voices: Voices, owner: Owner) -> dict[str, Any]:
    """One voice."""
    return await VoiceDirectory.of(service, voices, owner).one(voice_id)


@shared.get("/voices/{voice_id}/settings", responses=_NO_VOICE)
async def voice_settings(voice_id: str, service: Service, voices: Voices, owner: Owner) -> dict[str, Any]:
    """The settings of one voice, which are those of every voice."""
    found = await VoiceDirectory.of(service, voices, owner).one(voice_id)
    return dict(found["settings"])


@shared.get("/models")
async def list_models(service: Service) -> list[dict[str, Any]]:
    """The models that can speak, and ElevenLabs' names, which stand for the server's model."""
    registry = service.registry
    found = [_model(info.id, info, service) for info in registry.models() if info.available]
    meant = registry.model(model_name(None, service.settings))
    return [*found, *(_model(name, meant, service) for name in ELEVENLABS_MODELS)]


@own.get("/v2/voices")
async def search_voices(
    service: Service,
    voices: Voices,
    owner: Owner,
    search: Annotated[str, Query(max_length=_MAX_FILTER_CHARS, pattern=PRINTABLE)] = "",
    page_size: Annotated[int, Query(ge=1, le=100)] = 10,
    next_page_token: Annotated[str, Query(max_length=12)] = "",
    category: Annotated[str, Query(max_length=_MAX_FILTER_CHARS)] = "",
    sort: Literal["name", "created_at_unix"] | None = None,
    sort_direction: Literal["asc", "desc"] = "asc",
    voice_ids: Annotated[list[str] | None, Query(max_length=100)] = None,
) -> dict[str, Any]:
    """A page of the voices that match a search."""
    if next_page_token and not (next_page_token.isascii() and next_page_token.isdecimal()):
        raise InvalidRequestError("'next_page_token' is not one that this server gave.", field="next_page_token")
    found = [
        voice
        for voice in await VoiceDirectory.of(service, voices, owner).listed()
        if search.casefold() in _searched(voice)
        and category in ("", voice["category"])
        and (voice_ids is None or voice["voice_id"] in voice_ids)
    ]
    if sort is not None:
        found.sort(key=lambda voice: str(voice.get(sort) or "").casefold(), reverse=sort_direction == "desc")
    start = int(next_page_token or 0)
    page, more = found[start : start + page_size], start + page_size < len(found)
    return {
        "voices": page,
        "has_more": more,
        "total_count": len(found),
        "next_page_token": str(start + page_size) if more else None,
    }


@own.get("/v1/user")
async def get_user(service: Service) -> dict[str, Any]:
    """An account without limits, for clients that ask before they speak."""
    return {
        "user_id": "polyvox",
        "workspace_id": "polyvox",
        "subscription": _subscription(service),
        "is_new_user": False,
        "is_onboarding_completed": True,
        "is_onboarding_checklist_completed": True,
        "created_at": 0,
        "seat_type": "workspace_admin",
        "xi_api_key": None,
        "can_use_delayed_payment_methods": False,
    }


@own.get("/v1/user/subscription")
async def get_subscription(service: Service) -> dict[str, Any]:
    """The subscription of that account."""
    return _subscription(service)


def _searched(voice: dict[str, Any]) -> str:
    labels = voice["labels"].values()
    return " ".join((voice["voice_id"], voice["name"], voice["category"], *labels)).casefold()


def _model(model_id: str, info: ModelInfo, service: SpeechService) -> dict[str, Any]:
    known = info.capabilities
    languages = sorted(info.languages)
    return {
        "model_id": model_id,
        "name": info.id if model_id == info.id else f"{model_id} ({info.id})",
        "description": "" if model_id == info.id else f"Stands for the model {info.id} of this server.",
        "can_do_text_to_speech": True,
        "can_do_voice_conversion": known is not None and known.conversion,
        "can_be_finetuned": False,
        "can_use_style": False,
        "can_use_speaker_boost": False,
        "serves_pro_voices": False,
        "requires_alpha_access": False,
        "token_cost_factor": 0.0,
        "maximum_text_length_per_request": service.settings.max_input_chars,
        "languages": [{"language_id": tag, "name": tag} for tag in languages],
    }


def _subscription(service: SpeechService) -> dict[str, Any]:
    return {
        "tier": "self_hosted",
        "status": "active",
        "character_count": 0,
        "character_limit": 2**31 - 1,
        "max_character_limit_extension": None,
        "max_credit_limit_extension": "unlimited",
        "can_extend_character_limit": False,
        "allowed_to_extend_character_limit": False,
        "next_character_count_reset_unix": None,
        "voice_slots_used": 0,
        "professional_voice_slots_used": 0,
        "professional_voice_slots_used_in_workspace": 0,
        "voice_limit": service.settings.max_voices,
        "max_voice_add_edits": None,
        "voice_add_edit_counter": 0,
        "professional_voice_limit": 0,
        "can_extend_voice_limit": False,
        "can_use_instant_voice_cloning": any(info.cloning for info in service.registry.models()),
        "can_use_professional_voice_cloning": False,
        "open_invoices": [],
        "has_open_invoices": False,
        "current_overage": {"amount": "0", "currency": "usd"},
    }
