"""`polyvox pull`: the parts that need no network."""

from typer.testing import CliRunner

from polyvox.cli.main import app


def test_a_model_that_comes_with_the_package_need_not_be_pulled(tmp_path):
    result = CliRunner().invoke(app, ["pull", "silero-vad", "--models-dir", str(tmp_path / "models")])
    assert (result.exit_code, "part of Polyvox" in result.output) == (0, True)
    assert not (tmp_path / "models").exists()
