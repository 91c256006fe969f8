"""How far half precision takes the flow from single precision; the vocoder is in single precision everywhere."""

import pytest
import torch

from helpers.cosyvoice_golden import flow, flow_prompt, golden
from helpers.tables import each_row
from polyvox.models.cosyvoice.noise import flow_noise


def mel(version, dtype):
    tokens = golden(version, "loop_stream")["token"][:, :8]
    return flow(version, steps=2, dtype=dtype).render(
        flow_prompt(version), tokens, flow_noise(), streaming=True, final=True
    )


@pytest.mark.long
@each_row("version", [2, 3])
@torch.inference_mode()
def test_in_bfloat16_the_mel_moves_by_little_of_its_spread(version):
    exact, rounded = mel(version, torch.float32), mel(version, torch.bfloat16).float()
    share = ((exact - rounded).square().mean().sqrt() / exact.std()).item()
    assert 0 < share < 0.03
