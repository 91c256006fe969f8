"""The comparison of Wren's two fronts by ear, with the real models."""

import pytest

from training.front.words import compare

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


async def test_a_plain_sentence_is_heard_behind_either_front(models_dir, monkeypatch, capsys):
    monkeypatch.setenv("POLYVOX_MODELS_DIR", str(models_dir))
    found = await compare(["The old man walked slowly down to the quiet harbour."], ["af_heart"])
    assert {name: figures["words"] for name, figures in found.items()} == {"albert": 10, "distilled": 10}
    assert all(figures["lost"] <= 1 for figures in found.values())
    assert capsys.readouterr().out.splitlines()[-1].startswith("1 {'albert': ")
