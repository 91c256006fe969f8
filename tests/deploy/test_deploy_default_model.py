"""The default model is the settings' own: nothing that starts a server chooses another."""

import inspect
import re

import pytest
import yaml

from helpers.documents import ROOT
from polyvox import Speaker
from polyvox.config import DEFAULT_MODELS, Settings
from polyvox.engines.catalog import Catalog


@pytest.mark.parametrize("path", ["Makefile", "Dockerfile", "compose.yaml", "deploy/helm/polyvox/values.yaml"])
def test_nothing_that_starts_a_server_names_models(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    assert not re.search(
        r"POLYVOX_(MODELS|DEFAULT_MODEL|HD_MODEL)\b|^\s*(models: *\[|default_model:)", text, re.MULTILINE
    )


def test_the_library_and_ray_begin_with_the_same_model() -> None:
    service = yaml.safe_load((ROOT / "deploy/kuberay/rayservice.yaml").read_text(encoding="utf-8"))
    [application] = yaml.safe_load(service["spec"]["serveConfigV2"])["applications"]
    chosen, settings = application["args"]["settings"], Settings()
    assert (chosen["models"], chosen["default_model"]) == (settings.models, settings.default_model)
    assert inspect.signature(Speaker).parameters["model"].default == settings.default_model == DEFAULT_MODELS[0]


def test_one_pull_installs_every_default_model() -> None:
    catalog = Catalog.installed()
    assert {catalog.bundle_of(model) for model in DEFAULT_MODELS} == {"kokoro"}
