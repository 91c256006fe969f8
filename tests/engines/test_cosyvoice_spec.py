"""CosyVoice's EngineSpec, tuning and seeds."""

from pathlib import Path

import pytest

from helpers.tiny_cosyvoice import tiny_model
from polyvox.engines.catalog import Catalog
from polyvox.engines.cosyvoice.settings import CosyVoiceSettings
from polyvox.engines.cosyvoice.spec import COSYVOICE
from polyvox.engines.cosyvoice.tuning import CosyVoiceTuning
from polyvox.engines.kit.seeds import derive_seed
from polyvox.errors import InvalidRequestError


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_model_folder_is_recognized_with_the_setting_that_loads_it(tmp_path, version):
    folder = tiny_model(tmp_path / "model", version)
    found = Catalog.installed().recognize(folder)
    assert (found.model, found.settings) == (f"cosyvoice{version}", {f"cosyvoice{version}_dir": folder})


def test_other_folders_are_passed_over(tmp_path):
    assert COSYVOICE.recognize(tmp_path) is None


def test_the_folder_of_a_version_is_the_one_that_is_set():
    settings = CosyVoiceSettings(version1_dir=Path("one"), version2_dir=Path("two"))
    assert [settings.folder(version) for version in (1, 2, 3)] == [Path("one"), Path("two"), None]


def test_zero_shot_is_a_yes_or_a_no_and_other_families_parameters_are_passed_over():
    assert COSYVOICE.tuning is CosyVoiceTuning
    assert CosyVoiceTuning.of({"zero_shot": 1.0, "guidance_scale": 3.0}).zero_shot
    assert not CosyVoiceTuning.of({}).zero_shot
    with pytest.raises(InvalidRequestError, match="zero_shot") as refused:
        CosyVoiceTuning.of({"zero_shot": 0.5})
    assert refused.value.field == "zero_shot"


def test_segments_of_an_utterance_have_seeds_of_their_own_and_the_first_has_the_utterances():
    seeds = [derive_seed(7, "segment", index) for index in range(50)]
    assert seeds[0] == 7
    assert len(set(seeds)) == 50
