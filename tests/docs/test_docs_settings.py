"""The settings reference and what the chart knows of settings are what scripts/build_settings_reference.py writes."""

import importlib.util
import json
from types import ModuleType

import yaml

from helpers.documents import ROOT
from polyvox.installation import settings_loader


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


def test_the_chart_knows_the_names_of_all_settings() -> None:
    script = generator()
    names = script.CHART_NAMES.read_text(encoding="utf-8")
    assert names == script.chart_names(), "run python scripts/build_settings_reference.py"
    assert set(yaml.safe_load(names)["names"]) == set(settings_loader().names())
    assert "api_keys" in yaml.safe_load(names)["secrets"]


def test_the_charts_schema_has_the_type_and_range_of_every_setting() -> None:
    script = generator()
    schema = script.CHART_SCHEMA.read_text(encoding="utf-8")
    assert schema == script.chart_schema(), "run python scripts/build_settings_reference.py"
    known = json.loads(schema)["definitions"]["knownSettings"]["properties"]
    assert known.keys() == set(settings_loader().names())
    assert known["max_share"] == {"type": "number", "maximum": 1, "exclusiveMinimum": 0}
    assert known["server"] == {"type": "string", "enum": ["uvicorn", "granian"]}
    assert known["models"] == {"type": ["string", "array"], "items": {"type": "string"}}
