"""One request's way through the project stays short enough to be read."""

import ast
import inspect

import pytest

from helpers.fakes import PlainToneEngine, tone_service
from helpers.request_path import request_path
from polyvox.service import speech

MOST_FILES = 80


@pytest.mark.anyio
async def test_one_request_passes_few_files_and_one_record_a_step() -> None:
    path = await request_path(tone_service(PlainToneEngine()))
    assert {"service/speech.py", "service/session.py", "api/dialects/openai/door.py"} <= set(path.files)
    assert len(path.files) <= MOST_FILES, path.files
    assert path.records == {"SpeechBody", "SpeechRequest", "CallContext", "SessionPlan", "Ticket", "Session"}


def test_the_service_wires_at_most_a_dozen_parts() -> None:
    (service,) = ast.parse(inspect.getsource(speech.SpeechService)).body
    assert isinstance(service, ast.ClassDef)
    (init,) = [node for node in service.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
    made = [
        ast.unparse(node.targets[0])
        for node in ast.walk(init)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Attribute)
        and isinstance(node.value, ast.Call | ast.IfExp)
    ]
    assert "self._planner" in made
    assert len(made) <= 12, made
