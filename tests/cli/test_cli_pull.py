"""`polyvox pull`: the parts that need no network."""

from typer.testing import CliRunner

from polyvox.cli.main import app
from polyvox.errors import BundleError


def test_a_model_that_comes_with_the_package_need_not_be_pulled(tmp_path):
    result = CliRunner().invoke(app, ["pull", "silero-vad", "--models-dir", str(tmp_path / "models")])
    assert (result.exit_code, "part of Polyvox" in result.output) == (0, True)
    assert not (tmp_path / "models").exists()


def test_a_model_with_the_files_of_another_pulls_that_one(tmp_path, monkeypatch):
    asked = []

    def pull(name, **_):
        asked.append(name)
        raise BundleError("Nothing is fetched here.")

    monkeypatch.setattr("polyvox.bundles.pull.pull", pull)
    CliRunner().invoke(app, ["pull", "wren", "--models-dir", str(tmp_path)])
    assert asked == ["kokoro"]
