"""Bodies that may be JSON or a form with a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, get_args, get_origin
from urllib.parse import parse_qsl

from fastapi import Request
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from python_multipart.multipart import parse_options_header
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from polyvox.api.complaints import invalid_request
from polyvox.api.requests.body import is_json, off_the_loop, parse_json
from polyvox.errors import InvalidRequestError

_MAX_FIELDS = 40
_MAX_FIELD_BYTES = 524_288
_MAX_JSON_CHARS = 131_072  # of a field that is no text: more than the longest list needs, parsed on the event loop
_LISTS = ("timestamp_granularities", "include", "keyterms")
_REPEATABLE = frozenset({"tags", *_LISTS, *(f"{name}[]" for name in _LISTS)})
_BOOLEANS = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class FormFile:
    """A file of a form, and the name that the caller gives it."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a body, unchecked. In a form all of them are text, and there may be files.

    `file` is the content of the one that the route asks for first; `files` are all of them by their fields.
    """

    values: object
    is_form: bool = False
    file: bytes | None = None
    files: Mapping[str, FormFile] = field(default_factory=dict)

    def parsed(self, model: type[Model]) -> Model:
        """The fields as a model; in a form, numbers and booleans are parsed from text."""
        values = self.values
        if self.is_form and isinstance(values, dict):
            values = {name: _form_value(name, model.model_fields.get(name), value) for name, value in values.items()}
        try:
            return model.model_validate(values)
        except ValidationError as error:
            problems = [{**problem, "loc": ("body", *problem["loc"])} for problem in error.errors(include_url=False)]
            raise invalid_request(problems) from error


async def read_fields(
    request: Request, file_field: str, *, further_files: Sequence[str] = (), urlencoded: bool = False
) -> Fields:
    """The fields of a JSON object, or of a form whose file, if any, has this name; it may have `further_files`.

    With `urlencoded`, a form without a file may also be `application/x-www-form-urlencoded`, as curl sends it.
    """
    if is_json(request):
        return Fields(await off_the_loop(await request.body(), parse_json))
    kind, parameters = parse_options_header(request.headers.get("content-type"))
    if urlencoded and kind in (b"application/x-www-form-urlencoded", b""):
        return Fields(await off_the_loop(await request.body(), _parse_urlencoded), is_form=True)
    if kind != b"multipart/form-data" or parameters.get(b"charset", b"utf-8").lower() != b"utf-8":
        raise InvalidRequestError("Send JSON as 'application/json', or a form as 'multipart/form-data' in UTF-8.")
    try:
        form = await _InMemory(
            request.headers,
            request.stream(),
            max_files=1 + len(further_files),
            max_fields=_MAX_FIELDS,
            max_part_size=_MAX_FIELD_BYTES,
        ).parse()
    except MultiPartException as error:
        raise InvalidRequestError(f"The form cannot be read: {error.message.rstrip('.')}.") from error
    values: dict[str, Any] = {}
    files: dict[str, FormFile] = {}
    for name, value in form.multi_items():
        if isinstance(value, UploadFile):
            if name not in (file_field, *further_files):
                raise InvalidRequestError(f"Send the file as the form's part '{file_field}'.", field=file_field)
            if name in files:
                raise InvalidRequestError(f"'{name}' is given more than once.", field=name)
            files[name] = FormFile(value.filename or "", await value.read())
        elif value:
            _add_field(values, name, value)
    file = files[file_field].data if file_field in files else None
    return Fields(values, is_form=True, file=file, files=files)


def json_or_form(model: type[BaseModel], *file_fields: str) -> dict[str, Any]:
    """The request body of a route that takes JSON or a form, for the OpenAPI pages."""
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    schema.pop("$defs", None)
    files = {name: {"type": "string", "format": "binary"} for name in file_fields}
    form = schema | {"properties": schema["properties"] | files}
    content = {"application/json": {"schema": schema}, "multipart/form-data": {"schema": form}}
    return {"requestBody": {"required": True, "content": content}}


def _parse_urlencoded(body: bytes) -> dict[str, Any]:
    try:
        pairs = parse_qsl(body.decode(), errors="strict", max_num_fields=_MAX_FIELDS)
    except ValueError as error:
        raise InvalidRequestError("The form cannot be read: it has too many fields, or is not in UTF-8.") from error
    values: dict[str, Any] = {}
    for name, value in pairs:
        _add_field(values, name, value)
    return values


class _InMemory(MultiPartParser):
    """A parser that writes no temporary files; the whole body has its limit already."""

    spool_max_size = 1 << 40


def _form_value(name: str, field: FieldInfo | None, written: object) -> object:
    """The value of a form's text for a field that does not take text."""
    if field is None or not isinstance(written, str) or str in (kinds := _plain_types(field.annotation)):
        return written
    if bool in kinds and written.lower() in _BOOLEANS:
        return _BOOLEANS[written.lower()]
    if len(written) > _MAX_JSON_CHARS:
        raise InvalidRequestError(f"'{name}' has over {_MAX_JSON_CHARS:,} characters; send fewer items.", field=name)
    try:
        return parse_json(written.encode())
    except InvalidRequestError:
        return written


def _plain_types(annotation: Any) -> frozenset[Any]:  # noqa: ANN401 - an annotation may be anything
    """The plain types that an annotation is made of."""
    if get_origin(annotation) is Literal:
        return frozenset(type(value) for value in get_args(annotation))
    inner = get_args(annotation)
    return frozenset().union(*map(_plain_types, inner)) if inner else frozenset({annotation})


def _add_field(values: dict[str, Any], name: str, value: str) -> None:
    if name in _REPEATABLE:
        values.setdefault(name, []).append(value)
    elif name in values:
        raise InvalidRequestError(f"'{name[:80]}' is given more than once.", field=name[:80])
    else:
        values[name] = value
