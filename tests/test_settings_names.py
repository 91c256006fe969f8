"""Every name of a setting that was ever published goes on working, in the environment, in `.env` and in YAML.

`golden/settings.json` is frozen: names are added to it with each release and never taken away. It holds a value in text
for each name and what that value comes to. `golden/foreign_variables.json` lists the variables of other servers, as
their own settings files name them.
"""

import json
import logging
import re
from pathlib import Path

import pytest
import yaml
from pydantic import SecretStr

from polyvox.installation import load_settings, settings_loader

GOLDEN = Path(__file__).parent / "golden"
FROZEN = json.loads((GOLDEN / "settings.json").read_text(encoding="utf-8"))
OTHER_SERVERS: dict[str, list[str]] = json.loads((GOLDEN / "foreign_variables.json").read_text(encoding="utf-8"))
SETTINGS = [(name, text, value) for name, (text, value) in FROZEN["settings"].items()]
FOREIGN = [(variable, name, text, value) for variable, (name, text, value) in FROZEN["foreign"].items()]
SHARED = [(variable, name, text, value) for variable, (name, text, value) in FROZEN["foreign_shared"].items()]
OPTIONS = frozenset(("COSYVOICE_MODEL_ID",))
"""Variables that an option of `polyvox serve` reads."""


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No setting of the machine or of the working directory reaches these tests."""
    for name in (*settings_loader().names(), "config"):
        monkeypatch.delenv(f"POLYVOX_{name.upper()}", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plain(value: object) -> object:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, list):
        return [plain(each) for each in value]
    return str(value) if isinstance(value, Path) else value


def effective(name: str) -> object:
    """The value of a setting, in every section that reads it."""
    settings = load_settings()
    found = [plain(getattr(settings, name))] if name in type(settings).model_fields else []
    for section in settings.sections():
        fields = [field for field, full in section.setting_names().items() if full == name]
        found += [plain(getattr(section, field)) for field in fields]
    assert found, f"nothing reads {name}"
    assert all(value == found[0] for value in found)
    return found[0]


def test_the_list_is_whole() -> None:
    assert len(SETTINGS) >= 128
    assert {name for name, _, _ in SETTINGS} <= set(settings_loader().names())


@pytest.mark.long
@pytest.mark.parametrize(("name", "text", "value"), SETTINGS, ids=[name for name, _, _ in SETTINGS])
def test_a_setting_is_read_from_the_environment_from_dotenv_and_from_yaml(
    empty_folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, value: object
) -> None:
    monkeypatch.setenv(f"POLYVOX_{name.upper()}", text)
    assert effective(name) == value
    monkeypatch.delenv(f"POLYVOX_{name.upper()}")
    (empty_folder / ".env").write_text(f"POLYVOX_{name.upper()}={text}\n")
    assert effective(name) == value
    (empty_folder / ".env").unlink()
    (empty_folder / "polyvox.yaml").write_text(yaml.safe_dump({name: value}))
    assert effective(name) == value


@pytest.mark.parametrize(("variable", "name", "text", "value"), FOREIGN, ids=[row[0] for row in FOREIGN])
def test_a_variable_of_another_server_is_understood(
    monkeypatch: pytest.MonkeyPatch, variable: str, name: str, text: str, value: object
) -> None:
    monkeypatch.setenv(variable, text)
    assert effective(name) == value


def test_a_name_that_other_programs_use_counts_beside_one_of_the_server_and_is_named_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for variable, name, text, value in SHARED:
        with monkeypatch.context() as alone:
            unset = effective(name)
            alone.setenv(variable, text)
            caplog.clear()
            assert effective(name) == unset, variable
            assert re.search(rf"^{variable}, .* set POLYVOX_{name.upper()}$", caplog.messages[0])
            alone.setenv("CROSSFADE_MS" if variable == "DEVICE" else "GAP_TRIM_MS", "12")
            caplog.clear()
            assert effective(name) == value, variable
            assert not any(message.startswith(f"{variable},") for message in caplog.messages)


def test_every_variable_of_another_server_is_honoured_or_named_with_what_to_use_instead(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    honoured = {*FROZEN["foreign"], *FROZEN["foreign_shared"], *OPTIONS}
    for server, variables in OTHER_SERVERS.items():
        table = next(each for each in settings_loader().foreign if each.server == server)
        assert {name.upper() for name in table.names} - {"DEFAULT_MODEL"} == set(variables) - OPTIONS
        rest = [variable for variable in variables if variable not in honoured]
        caplog.clear()
        with monkeypatch.context() as context, caplog.at_level(logging.WARNING):
            for variable in rest:
                context.setenv(variable, "1")
            load_settings()
        sentence = re.compile(rf"(\w+), one of {server} variables, has no effect here: .+")
        named = [found[1] for found in map(sentence.fullmatch, caplog.messages) if found is not None]
        assert sorted(named) == sorted(rest)


def test_advice_names_settings_that_exist() -> None:
    known = set(settings_loader().names())
    for each in settings_loader().foreign:
        named = {name.lower() for text in each.ignored.values() for name in re.findall(r"POLYVOX_(\w+)", text)}
        assert named <= known
        assert {*each.variables, *each.derived.values()} <= known
        assert each.shared <= each.names


def test_a_name_in_dotenv_that_nothing_reads_is_named(empty_folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (empty_folder / ".env").write_text("ENABLE_SMML=false\nPOSTGRES_PASSWORD=sesame\nENABLE_SSML=false\n")
    assert effective("allow_ssml") is False
    assert [message.partition(" in .env has no effect")[0] for message in caplog.messages] == [
        "ENABLE_SMML",
        "POSTGRES_PASSWORD",
    ]
    assert "sesame" not in caplog.text


def test_a_section_may_be_written_as_a_block(empty_folder: Path) -> None:
    (empty_folder / "polyvox.yaml").write_text("kokoro:\n  threads: 3\n  first_chunk_phonemes: 40\nport: 9000\n")
    assert effective("kokoro_threads") == 3
    assert effective("first_chunk_phonemes") == 40
    assert effective("port") == 9000
