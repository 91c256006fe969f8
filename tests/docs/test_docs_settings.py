"""The settings reference is what scripts/build_settings_reference.py writes."""

import importlib.util
from types import ModuleType

from helpers.documents import ROOT


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "build_settings_reference", ROOT / "scripts" / "build_settings_reference.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_settings_reference_is_current() -> None:
    script = generator()
    assert script.PAGE.read_text(encoding="utf-8") == script.page(), "run python scripts/build_settings_reference.py"
