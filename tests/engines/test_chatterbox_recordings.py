"""What Chatterbox hears in a recording, and the voice that its makers put beside the weights."""

from pathlib import Path

import numpy as np
import pytest
import torch

from helpers.chatterbox_s3gen import RATE, recorded, reference, s3gen
from polyvox.engines.chatterbox.recordings import RecordingFeatures, check_recording, loudness_gain
from polyvox.engines.chatterbox.voice import ChatterboxVoice, read_conditions
from polyvox.errors import BundleError, InvalidRequestError, PromptError
from polyvox.models.chatterbox.voice_encoder import VoiceEncoder, VoiceEncoderConfig
from polyvox.types import Pcm, VoicePrompt

SPEAKER = 24


def prompt(pcm: Pcm) -> VoicePrompt:
    return VoicePrompt(pcm, RATE, "", "digest")


def features(*, turbo: bool = False) -> RecordingFeatures:
    torch.manual_seed(0)
    encoder = VoiceEncoder(VoiceEncoderConfig(hidden=28, width=SPEAKER)).eval()
    return RecordingFeatures(s3gen(), encoder, 375 if turbo else 150, turbo=turbo)


def test_a_recording_is_heard_as_the_original_hears_it():
    known, voice = recorded(), features().voice(prompt(reference()))
    assert voice.tokens.tolist() == known["voice.prompt_token"].tolist()
    np.testing.assert_allclose(voice.mel.T, known["voice.prompt_feat"].numpy(), rtol=0, atol=1e-4)
    assert voice.prompt_tokens.tolist() == known["voice.t3_prompt_tokens"].tolist()
    assert voice.speaker.shape == (SPEAKER,)
    assert voice.embedding.shape == (192,)


def test_turbo_hears_it_at_its_own_loudness():
    known = recorded()
    gain = float(known["turbo.loudness_gain"])
    assert loudness_gain(reference(), RATE) == pytest.approx(gain, rel=0.02)
    voice = features(turbo=True).voice(prompt(reference()))
    ours = loudness_gain(reference(), RATE)
    wanted = known["turbo.prompt_feat"].numpy() + np.log(ours / gain)
    np.testing.assert_allclose(voice.mel.T[:20], wanted, rtol=0, atol=1e-3)
    assert loudness_gain(np.zeros(RATE, np.float32), RATE) == 1.0


def test_a_long_recording_is_cut_where_each_network_ends():
    long = np.tile(reference(), 4)[: 29 * RATE]
    plain, turbo = features().voice(prompt(long)), features(turbo=True).voice(prompt(long))
    assert [len(voice.tokens) for voice in (plain, turbo)] == [250, 250]
    assert [voice.mel.shape for voice in (plain, turbo)] == [(80, 500)] * 2
    assert [len(voice.prompt_tokens) for voice in (plain, turbo)] == [150, 375]
    odd = features().voice(prompt(reference()[: round(3.999 * RATE)]))
    assert odd.mel.shape[1] == 2 * len(odd.tokens)


def test_a_recording_that_cannot_be_used_is_refused():
    for pcm, turbo, complaint in (
        (np.zeros(31 * RATE, np.float32), False, "30"),
        (np.zeros(RATE // 4, np.float32), False, "too short"),
        (np.zeros(5 * RATE, np.float32), True, "more than 5"),
        (np.full(6 * RATE, np.nan, np.float32), False, "finite"),
    ):
        with pytest.raises(PromptError, match=complaint):
            check_recording(prompt(pcm), "voice", turbo=turbo)
    check_recording(prompt(np.zeros(5 * RATE + 1, np.float32)), "voice", turbo=True)


def published(**changes: object) -> dict[str, dict[str, object]]:
    known = recorded()
    parts: dict[str, dict[str, object]] = {
        "t3": {
            "speaker_emb": torch.rand(1, SPEAKER),
            "cond_prompt_speech_tokens": known["voice.t3_prompt_tokens"][None],
            "emotion_adv": torch.full((1, 1, 1), 0.5),
            "clap_emb": None,
        },
        "gen": {
            "prompt_token": known["voice.prompt_token"].long()[None],
            "prompt_token_len": torch.tensor([140]),
            "prompt_feat": known["voice.prompt_feat"][None],
            "embedding": known["voice.embedding"][None],
        },
    }
    for name, value in changes.items():
        part = next(part for part in parts.values() if name in part)
        part[name] = value
    return parts


def test_the_voice_of_the_makers_is_read_as_plain_tensors(tmp_path: Path):
    path = tmp_path / "conds.pt"
    torch.save(published(), path)
    voice = read_conditions(path, SPEAKER, 150)
    assert voice.tokens.tolist() == recorded()["voice.prompt_token"].tolist()
    assert voice.mel.shape == (80, 280)
    again = ChatterboxVoice.unpack(voice.pack("chatterbox", "made"), "chatterbox")
    assert np.array_equal(again.mel, voice.mel)
    with pytest.raises(InvalidRequestError, match="chatterbox-turbo"):
        ChatterboxVoice.unpack(voice.pack("chatterbox", "made"), "chatterbox-turbo")
    with torch.no_grad():
        torch.save(published(prompt_feat=recorded()["voice.prompt_feat"][None, :199]), path)
    shorter = read_conditions(path, SPEAKER, 150)
    assert (len(shorter.tokens), shorter.mel.shape[1]) == (99, 198)


def test_a_voice_of_the_makers_that_does_not_fit_is_refused(tmp_path: Path):
    path = tmp_path / "conds.pt"
    for changes in (
        {"speaker_emb": torch.rand(1, SPEAKER + 1)},
        {"speaker_emb": torch.full((1, SPEAKER), torch.nan)},
        {"cond_prompt_speech_tokens": torch.full((1, 5), 6561)},
        {"cond_prompt_speech_tokens": torch.zeros(1, 151, dtype=torch.long)},
        {"prompt_token": torch.zeros(1, 5)},
        {"prompt_feat": torch.zeros(1, 10, 79)},
        {"embedding": "no tensor"},
    ):
        torch.save(published(**changes), path)
        with pytest.raises(BundleError, match=next(iter(changes))):
            read_conditions(path, SPEAKER, 150)
    torch.save([1, 2], path)
    with pytest.raises(BundleError, match="t3"):
        read_conditions(path, SPEAKER, 150)
