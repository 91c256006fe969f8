"""Pronunciation dictionaries: `/v1/dictionaries`."""

import json
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import BaseModel, Field

from polyvox.api.dependencies import Owner, Service
from polyvox.api.door import Door
from polyvox.api.middleware.origins import refuse_foreign_pages
from polyvox.api.requests.body import JsonRoute, is_json, off_the_loop, parse_json
from polyvox.api.requests.fields import Boolean, RequestBody, Text
from polyvox.api.requests.forms import Fields
from polyvox.api.responses.error_body import ErrorBody
from polyvox.errors import InvalidRequestError
from polyvox.service.keys.operations import Operation
from polyvox.service.pronunciation.dictionaries import entry_fields
from polyvox.text.dictionary import (
    MAX_MATCH_CHARS,
    MAX_SAY_CHARS,
    CaseRule,
    Dictionary,
    DictionaryEntry,
    EntryKind,
    read_pls,
    write_pls,
)
from polyvox.text.dictionary.pls import MEDIA_TYPE

router = APIRouter(
    prefix="/v1/dictionaries",
    route_class=JsonRoute,
    tags=["dictionaries"],
    dependencies=[Depends(refuse_foreign_pages)],
)

_ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorBody, "description": "A name, an entry or the file is not acceptable; the message says why."},
    403: {"model": ErrorBody, "description": "You have as many dictionaries or entries as the settings allow."},
    404: {"model": ErrorBody, "description": "There is no such dictionary among those you may see."},
    413: {"model": ErrorBody, "description": "The body is over its limit."},
    503: {"model": ErrorBody, "description": "Regular expressions cannot be checked now; try again."},
    429: {"model": ErrorBody, "description": "The queue is full; the header Retry-After says when to try again."},
}
Name = Annotated[str, Path(description="Up to 64 letters a to z, figures, dots, dashes and underscores.")]


class EntryBody(RequestBody):
    """An entry and how it is said: a respelling, or phonemes."""

    kind: EntryKind = Field(EntryKind.WORD, description="`word`, `phrase` (several words), or `regex`.")
    match: str = Field(description=f"What to find, up to {MAX_MATCH_CHARS} characters.")
    say: str = Field(
        "", description=f"What is said, up to {MAX_SAY_CHARS} characters; with `regex` also its groups: `\\1`, `$1`."
    )
    phonemes: str = Field("", description="The same in IPA, for models that work with phonemes.")
    alphabet: str = Field("ipa", pattern="^(?i:ipa)$", description="Of `phonemes`: ipa.")
    language: str = Field("", description="Only in texts of this language, such as en, en-gb or ms.")
    case: CaseRule = Field(
        CaseRule.AUTO,
        description="`any`: capitals do not count. `exact`: they do. `auto`: an entry in small letters matches any, "
        "another as it is written and in capitals.",
    )

    @property
    def entry(self) -> DictionaryEntry:
        return DictionaryEntry(self.kind, self.match, self.say, self.phonemes, self.language, self.case)


class DictionaryBody(RequestBody):
    """A whole dictionary."""

    default: Boolean = Field(False, description="Whether it is used for all of your requests.")
    entries: list[EntryBody] = Field(description="The entries; of equal ones the first counts.")


class DictionarySummary(BaseModel):
    """A dictionary without its entries."""

    name: str
    entries: int
    languages: list[str]
    default: bool
    shared: bool = Field(description="Whether it is everyone's; only the server's operator changes it.")


class DictionaryList(BaseModel):
    """The dictionaries that you may use."""

    dictionaries: list[DictionarySummary]


class TryBody(RequestBody):
    """A text to try a dictionary on."""

    text: Text = Field(description="The text.")
    language: str = Field("", description="Its language; by its script if absent.")


class TriedMatch(BaseModel):
    """A place where an entry was found, in characters of the text."""

    start: int
    end: int
    match: str
    say: str
    phonemes: str


class Tried(BaseModel):
    """A text as a dictionary changes it."""

    spoken: str = Field(description="What a model is given that works with phonemes.")
    matches: list[TriedMatch]
    slow: list[str] = Field(description="Regular expressions that take too long and were left out.")


@router.get("")
async def list_dictionaries(service: Service, owner: Owner) -> DictionaryList:
    """Your dictionaries, and those that everyone may use."""
    own, shared = await service.dictionaries.visible(owner)
    names = {dictionary.name for dictionary in own}
    listed = [_summary(each, shared=False) for each in own]
    listed += [_summary(each, shared=True) for each in shared if each.name not in names]
    return DictionaryList(dictionaries=sorted(listed, key=lambda each: each.name))


@router.get("/{name}", response_class=Response, responses={code: _ERRORS[code] for code in (400, 404)})
async def get_dictionary(
    name: Name,
    service: Service,
    owner: Owner,
    pls: Annotated[bool, Query(description="true: as a file in W3C's PLS 1.0, without regular expressions.")] = False,
    language: Annotated[str, Query(max_length=35, description="With `pls`: the language of the file.")] = "",
) -> Response:
    """One dictionary, with its entries."""
    found = await service.dictionaries.get(name, owner)
    if pls:
        headers = {"Content-Disposition": f'attachment; filename="{found.name}.pls"'}
        chosen = language.lower() or (found.languages[0] if len(found.languages) == 1 else "")
        return Response(write_pls(found, chosen), media_type=MEDIA_TYPE, headers=headers)
    return _whole(found)


@router.put(
    "/{name}",
    responses={code: _ERRORS[code] for code in (400, 403, 413, 503)},
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": DictionaryBody.model_json_schema()},
                MEDIA_TYPE: {"schema": {"type": "string"}},
            },
        }
    },
)
async def put_dictionary(
    name: Name,
    request: Request,
    service: Service,
    owner: Owner,
    default: Annotated[bool, Query(description="With PLS: whether it is used for all of your requests.")] = False,
) -> DictionarySummary:
    """Make a dictionary, or replace one: from JSON, or from a file in W3C's PLS 1.0 (`application/pls+xml`)."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    limit = service.settings.max_dictionary_entries
    if kind == MEDIA_TYPE:
        entries = await off_the_loop(await request.body(), partial(read_pls, max_entries=limit))
        made = Dictionary(name, entries, default)
    elif is_json(request):
        made = await off_the_loop(await request.body(), partial(_parsed, name))
    else:
        raise InvalidRequestError(f"Send JSON as 'application/json', or a lexicon as '{MEDIA_TYPE}'.")
    return _summary(await service.dictionaries.put(made, owner), shared=False)


@router.delete("/{name}", status_code=204, responses={code: _ERRORS[code] for code in (400, 404)})
async def delete_dictionary(name: Name, service: Service, owner: Owner) -> None:
    """Delete a dictionary of yours."""
    await service.dictionaries.remove(name, owner)


@router.post("/{name}/try", responses={code: _ERRORS[code] for code in (400, 404, 429)})
async def try_dictionary(name: Name, body: TryBody, service: Service, owner: Owner) -> Tried:
    """Show what a dictionary makes of a text, without speaking it."""
    service.side_requests.work.check_text(body.text, "text")
    tried = await service.dictionaries.tried(name, body.text, body.language.lower(), owner)
    matches = [
        TriedMatch(start=span.start, end=span.end, match=match.entry.match, say=match.say, phonemes=match.phonemes)
        for span, match in tried.matches
    ]
    return Tried(spoken=tried.spoken, matches=matches, slow=tried.slow)


def _parsed(name: str, data: bytes) -> Dictionary:
    body = Fields(parse_json(data)).parsed(DictionaryBody)
    return Dictionary(name, tuple(entry.entry for entry in body.entries), body.default)


def _whole(dictionary: Dictionary) -> Response:
    fields = {"name": dictionary.name, "default": dictionary.default}
    entries = [entry_fields(entry) for entry in dictionary.entries]
    return Response(json.dumps(fields | {"entries": entries}, ensure_ascii=False), media_type="application/json")


def _summary(dictionary: Dictionary, *, shared: bool) -> DictionarySummary:
    return DictionarySummary(
        name=dictionary.name,
        entries=len(dictionary.entries),
        languages=list(dictionary.languages),
        default=dictionary.default,
        shared=shared,
    )


DOOR = Door(
    "dictionaries",
    router,
    tags={"dictionaries": "Pronunciation dictionaries: how words, phrases and patterns of your texts are said."},
    operations={
        "GET /v1/dictionaries*": Operation.READ_DICTIONARIES,
        "PUT /v1/dictionaries/*": Operation.CHANGE_DICTIONARIES,
        "DELETE /v1/dictionaries/*": Operation.CHANGE_DICTIONARIES,
        "POST /v1/dictionaries/*": Operation.CHANGE_DICTIONARIES,
    },
)
