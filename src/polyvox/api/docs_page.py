"""`/docs`: the OpenAPI document as one page of HTML, without scripts and without anything from other hosts."""

import base64
import hashlib
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from types import MappingProxyType
from typing import Any

from fastapi import FastAPI
from starlette.responses import HTMLResponse

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #8886; }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { background: #8881; padding: .75rem; overflow-x: auto; }
details { border: 1px solid #8884; border-radius: 4px; margin: .5rem 0; padding: 0 .75rem; }
summary { cursor: pointer; padding: .5rem 0; }
summary b { display: inline-block; min-width: 4rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-top: 1px solid #8883; }
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_JSON = "application/json"
_BOUNDS = MappingProxyType({"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"})
_CODE = re.compile(r"`([^`]+)`")


def install_docs(app: FastAPI, path: str) -> None:
    """Serve the page at a path; it is made once, from the document of all routes."""
    page = ""

    async def docs() -> HTMLResponse:
        nonlocal page
        page = page or docs_page(app.openapi())
        return HTMLResponse(page, headers=_HEADERS)

    app.add_api_route(path, docs, include_in_schema=False, response_class=HTMLResponse)


def docs_page(document: Mapping[str, Any]) -> str:
    """The page of an OpenAPI document, its operations by their tags."""
    title = f"{document['info']['title']} {document['info']['version']}"
    return "\n".join(
        (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>",
            _prose(document["info"].get("description", "")),
            '<p>The same for programs: <a href="openapi.json">openapi.json</a>.</p>',
            *_sections(document),
            "</body></html>",
        )
    )


def _sections(document: Mapping[str, Any]) -> Iterator[str]:
    schemas = document.get("components", {}).get("schemas", {})
    operations = [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    for tag in document.get("tags", ()):
        yield f"<h2>{escape(tag['name'])}</h2>{_prose(tag.get('description', ''))}"
        for path, method, operation in operations:
            if tag["name"] in operation.get("tags", ()):
                yield _operation(path, method, operation, schemas)


def _operation(path: str, method: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    first, _, rest = operation.get("description", "").partition("\n\n")
    content = operation.get("requestBody", {}).get("content", {})
    media = content.get("multipart/form-data") or content.get(_JSON) or {}
    schema = _resolved(media.get("schema", {}), schemas)
    parts = [
        f"<details><summary><b>{method.upper()}</b> <code>{escape(path)}</code> {_inline(first)}</summary>",
        _prose(rest),
        _table("Parameters", _parameters(operation), ("name", "in", "type", "meaning")),
        _table(f"Body: {' or '.join(content)}", _fields(schema, schemas), ("field", "type", "default", "meaning")),
        _example(path, method, _resolved(content.get(_JSON, {}).get("schema", {}), schemas)),
        _table("Answers", _answers(operation), ("status", "content", "meaning")),
        "</details>",
    ]
    return "\n".join(filter(None, parts))


def _parameters(operation: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for each in operation.get("parameters", ()):
        yield (
            _code(each["name"]),
            escape(each["in"]),
            _type(each.get("schema", {}), {}),
            _inline(each.get("description", "")),
        )


def _fields(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    required = schema.get("required", ())
    for name, field in sorted(schema.get("properties", {}).items(), key=lambda field: field[0] not in required):
        default = field.get("default")
        shown = "required" if name in required else "" if default is None else _code(json.dumps(default))
        yield _code(name), _type(field, schemas), shown, _inline(field.get("description", ""))


def _answers(operation: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for status, answer in operation.get("responses", {}).items():
        yield escape(status), escape(", ".join(answer.get("content", ()))), _inline(answer.get("description", ""))


def _example(path: str, method: str, schema: Mapping[str, Any]) -> str:
    """A command that sends the schema's first example."""
    examples = schema.get("examples", ())
    if method != "post" or not examples:
        return ""
    body = shlex.quote(json.dumps(examples[0], ensure_ascii=False))
    command = f'curl "$SERVER{path}" -H "Content-Type: {_JSON}" -o speech -d {body}'
    return f"<pre>{escape(command)}</pre>"


def _type(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    schema = _resolved(schema, schemas)
    if "anyOf" in schema:
        return " or ".join(_type(each, schemas) for each in schema["anyOf"] if each.get("type") != "null")
    if "enum" in schema or "const" in schema:
        return " or ".join(_code(json.dumps(each)) for each in schema.get("enum", [schema.get("const")]))
    kind = str(schema.get("type", "any"))
    if kind == "array":
        return f"list of {_type(schema.get('items', {}), schemas)}"
    bounds = [f"{sign} {schema[name]:g}" for name, sign in _BOUNDS.items() if name in schema]
    return escape(" ".join([kind, *bounds]))


def _resolved(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = schemas.get(schema.get("$ref", "").rpartition("/")[2], schema)
    return found


def _table(title: str, rows: Iterable[tuple[str, ...]], heads: tuple[str, ...]) -> str:
    lines = ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
    if not lines:
        return ""
    head = "".join(f"<th>{name}</th>" for name in heads)
    return f"<h4>{escape(title)}</h4><table><tr>{head}</tr><tr>{'</tr><tr>'.join(lines)}</tr></table>"


def _prose(text: str) -> str:
    return "".join(f"<p>{_inline(part)}</p>" for part in text.strip().split("\n\n") if part.strip())


def _inline(text: str) -> str:
    """Text with code between backticks."""
    return _CODE.sub(r"<code>\1</code>", escape(text))


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"
