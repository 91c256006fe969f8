"""What lists show of a model before it is loaded is what its engine says."""

from dataclasses import replace
from pathlib import Path

import pytest

from helpers.fakes import tone_settings, tone_spec
from polyvox.engines.catalog import BUILT_IN, Catalog
from polyvox.engines.spec import ModelOutline
from polyvox.installation import load_settings


def test_an_outline_agrees_with_the_engine_of_every_model(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    settings = load_settings(models_dir=tmp_path)
    for spec in BUILT_IN:
        for model in spec.models:
            engine, outline = spec.make(model, settings), spec.outline(model, settings)
            assert outline.cloning == engine.capabilities.cloning, model
            assert outline.wordless == engine.capabilities.wordless, model
            assert outline.voice_design == engine.capabilities.voice_design, model
            assert outline.languages == engine.capabilities.languages, model
            assert list(outline.voices) == list(engine.voices), model


def test_a_package_that_fails_to_name_its_voices_hides_no_other_model() -> None:
    def broken(_model: str, _settings: object) -> tuple[()]:
        raise RuntimeError("no such file")

    catalog = Catalog((replace(tone_spec(), voices=broken),))
    assert catalog.outline("tone", tone_settings()) == ModelOutline((), frozenset({"en-us"}), cloning=False)
