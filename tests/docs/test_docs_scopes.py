"""The table of operations and scopes is what scripts/build_scopes_table.py writes."""

import importlib.util
from types import ModuleType

from helpers.documents import ROOT
from polyvox.service.keys.operations import Operation


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_scopes_table", ROOT / "scripts" / "build_scopes_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_operations_is_current() -> None:
    script = generator()
    shown = script.PAGE.read_text(encoding="utf-8")
    assert script.BEGIN in shown
    assert shown == script.page(), "run python scripts/build_scopes_table.py"


def test_every_operation_is_asked_for_somewhere() -> None:
    script = generator()
    assert not [operation for operation in Operation if not list(script._asked_by(operation))]
