"""`client_secrets`: a page's own key for a session, which knows how the session is to speak and listen."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from polyvox.api.dialects.openai_realtime.ids import new_id
from polyvox.api.dialects.openai_realtime.released_dialect import ReleasedDialect
from polyvox.api.dialects.openai_realtime.session_options import SessionOptions
from polyvox.api.middleware.ephemeral_keys import EphemeralKeys
from polyvox.api.requests.fields import Integer, RequestBody
from polyvox.errors import InvalidRequestError
from polyvox.service.registry.registry import Registry

_MAX_INSTRUCTIONS = 4_000
_DEFAULT_SECONDS = 600


class Expiry(RequestBody):
    """The end of a key's life."""

    anchor: Literal["created_at"] = "created_at"
    seconds: Annotated[Integer, Field(ge=10, le=7_200)] = _DEFAULT_SECONDS


class ClientSecretBody(RequestBody):
    """A key for a session, and what the session begins with."""

    expires_after: Expiry = Expiry()
    session: dict[str, Any] = Field({}, description="The fields of `session.update`.")


class ClientSecret(BaseModel):
    """An ephemeral key."""

    value: str = Field(description="The key, for `Authorization: Bearer` or `openai-insecure-api-key.KEY`.")
    expires_at: int = Field(description="When it ends, in seconds since 1970. A session that is open by then lives on.")
    session: dict[str, Any]


def issue_secret(body: ClientSecretBody, keys: EphemeralKeys, owner: str, registry: Registry) -> ClientSecret:
    """A key of an owner's for sessions that begin with what the body says."""
    dialect = ReleasedDialect()
    options = dialect.updated(SessionOptions(), {"session": body.session}).options
    if len(options.speech.instructions) > _MAX_INSTRUCTIONS:
        raise InvalidRequestError(
            f"'session.instructions' may have {_MAX_INSTRUCTIONS:,} characters here; send longer ones by "
            "'session.update'.",
            field="session.instructions",
        )
    session = {
        "object": options.kind.object_name,
        "id": new_id("sess"),
        **dialect.session_fields(options.shown(registry)),
    }
    key = keys.issue(owner, body.expires_after.seconds, options)
    return ClientSecret(value=key.value, expires_at=key.expires_at, session=session)
