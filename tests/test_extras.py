"""One table of extras agrees with the package's metadata, the images, the settings, the engines and the documents."""

import json
import sys
import tomllib
from pathlib import Path

import pytest

from helpers.dockerfile import parse_dockerfile
from polyvox import container_image, extras
from polyvox.bundles.validate import open_bundle
from polyvox.container_image import RECORD, ContainerImage, pull_hint, this_image
from polyvox.engines.catalog import BUILT_IN
from polyvox.errors import BundleError, UnavailableError
from polyvox.extras import EXTRAS, IMAGES, OTEL, install_hint
from polyvox.installation import settings_loader
from polyvox.text.phonemes.espeak.program import espeak_missing

ROOT = Path(__file__).parents[1]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
_, STAGES = parse_dockerfile(ROOT / "Dockerfile")
BY_NAME = {extra.name: extra for extra in EXTRAS}


def in_image(monkeypatch: pytest.MonkeyPatch, target: str, names: str) -> None:
    monkeypatch.setattr(extras, "this_image", lambda: ContainerImage(target, tuple(names.split(","))))


def test_the_table_lists_every_extra_of_the_package_and_no_other() -> None:
    assert BY_NAME.keys() == DECLARED.keys() - {"dev"}
    assert len(BY_NAME) == len(EXTRAS)


def test_every_module_is_there_once_its_extra_is_installed() -> None:
    [everything] = [item for item in DECLARED["dev"] if item.startswith("polyvox[")]
    installed = everything.removeprefix("polyvox[").removesuffix("]").split(",")
    assert [name for name in installed if not BY_NAME[name].installed] == []


def test_the_images_install_what_the_table_says() -> None:
    for target in IMAGES:
        [given] = [rest for rest in STAGES[f"build-{target}"].all("ARG") if rest.startswith("EXTRAS=")]
        assert given.removeprefix("EXTRAS=").split(",") == [e.name for e in EXTRAS if target in e.images], target


def test_every_setting_that_can_be_turned_on_works_in_both_images() -> None:
    known = set(settings_loader().names())
    for extra in EXTRAS:
        assert extra.settings.keys() <= known, extra.name
        assert not extra.settings or extra.images == IMAGES, extra.name


def test_the_values_that_the_table_names_are_ones_that_the_server_takes() -> None:
    loader = settings_loader()
    for extra in EXTRAS:
        loader.given(**extra.settings)


def test_engines_name_extras_and_modules_of_the_table() -> None:
    for spec in BUILT_IN:
        for requirement in spec.requires:
            assert requirement.module in BY_NAME[requirement.extra].modules


def test_the_page_of_settings_lists_every_extra_with_its_settings_and_images() -> None:
    page = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
    for extra in EXTRAS:
        [row] = [line for line in page.splitlines() if line.startswith(f"| `{extra.name}` |") and line.count("|") == 6]
        assert all(f"`{name}`" in row for name in extra.settings)
        assert row.endswith(" ".join(["|", ", ".join(extra.images) or "none", "|"]))


def test_what_is_missing_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    for extra in EXTRAS:
        assert not extra.installed
        with pytest.raises(UnavailableError, match=rf"pip install -e '\.\[{extra.name}\]' .* 'WHEEL\[{extra.name}\]'"):
            extra.check()


def test_a_module_whose_package_is_missing_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_spec(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(extras, "find_spec", find_spec)
    assert not OTEL.installed


def test_in_an_image_the_advice_is_the_image_to_build(monkeypatch: pytest.MonkeyPatch) -> None:
    for target, names, wanted, hint in (
        ("cpu", "espeak,ja", "otel", "docker build --target cpu --build-arg EXTRAS=espeak,ja,otel"),
        ("cpu", "espeak", "torch", "docker build --target cuda, whose image has it"),
        ("cpu", "espeak", "tensorrt", "docker build --target cuda --build-arg EXTRAS=espeak,tensorrt"),
        ("cuda", "ja,torch", "granian,grpc", "docker build --target cuda --build-arg EXTRAS=granian,grpc,ja,torch"),
    ):
        in_image(monkeypatch, target, names)
        assert install_hint(wanted) == hint


def test_no_advice_in_an_image_speaks_of_pip_or_apt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    (tmp_path / RECORD).write_text('{"target": "cpu", "extras": "espeak,ja"}\n')
    this_image.cache_clear()
    try:
        with pytest.raises(BundleError) as missing:
            open_bundle("kokoro", tmp_path)
        sentences = [espeak_missing("es", "espeak-ng"), missing.value.message, *(extra.absence for extra in EXTRAS)]
    finally:
        monkeypatch.undo()
        this_image.cache_clear()
    assert not [sentence for sentence in sentences if "pip install" in sentence or "apt-get" in sentence]
    assert "polyvox pull kokoro in a container with a volume at /models" in missing.value.message
    assert pull_hint("kokoro") == "polyvox pull kokoro"


def test_the_record_that_the_dockerfile_writes_is_the_one_that_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for target in IMAGES:
        [step] = [rest for rest in STAGES[f"build-{target}"].all("RUN") if RECORD in rest]
        written = step.removeprefix("printf '").split("\\n'")[0] % "espeak,ja"
        assert json.loads(written) == {"target": target, "extras": "espeak,ja"}
        assert step.endswith(f"> /opt/polyvox/{container_image.RECORD}")
