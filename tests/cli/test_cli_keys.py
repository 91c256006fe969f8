"""`polyvox keys`: keys without a server."""

import json

import pytest
from typer.testing import CliRunner

from polyvox.api.middleware.hosts import check_exposure
from polyvox.cli.main import app
from polyvox.errors import ForbiddenError
from polyvox.installation import load_settings


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POLYVOX_DATA_DIR", str(tmp_path / "data"))


def keys(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["keys", *arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_a_key_is_shown_once_and_listed_without_its_secret():
    secret = keys("create", "anna", "--scope", "speak", "--characters-a-day", "50000", "--streams", "4").strip()
    made = json.loads(keys("create", "boss", "--scope", "admin", "--scope", "speak", "--json"))
    listed = keys("list")
    assert secret.startswith("pvx_")
    assert made["scopes"] == ["admin", "speak"]
    assert secret not in listed
    assert listed.splitlines() == ["anna\tspeak\tstreams=4 characters_a_day=50000", "boss\tadmin,speak\tno limits"]


@pytest.mark.long
def test_a_key_is_changed_and_revoked():
    keys("create", "anna", "--requests-a-minute", "5")
    keys("change", "anna", "--streams", "2", "--scope", "voices")
    (shown,) = json.loads(keys("list", "--json"))
    assert shown["scopes"] == ["voices"]
    assert shown["limits"] == {
        "requests_a_minute": 5, "streams": 2, "characters_a_day": 0, "audio_seconds_a_day": 0
    }  # fmt: skip
    keys("revoke", "anna")
    assert keys("list").startswith("anna\trevoked\t")
    keys("revoke", "anna", code=1)
    keys("create", "anna", code=1)


@pytest.mark.parametrize(
    "arguments", [("create", "a b"), ("create", "anna", "--scope", "all"), ("create", "anna", "--streams", "-1")]
)
def test_what_makes_no_sense_is_refused(arguments):
    keys(*arguments, code=2)


def test_a_server_with_keys_in_its_file_may_be_reached_by_others():
    settings = load_settings(host="0.0.0.0")
    with pytest.raises(ForbiddenError, match="polyvox keys create"):
        check_exposure(settings)
    keys("create", "anna")
    check_exposure(settings)
    keys("revoke", "anna")
    check_exposure(settings)  # it still asks for a key
