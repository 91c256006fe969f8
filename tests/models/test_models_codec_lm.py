import pytest
import torch

from helpers.tiny_lm import TEXT_IDS, tiny_config, tiny_lm, tiny_state
from polyvox.models.loading import WeightsError
from polyvox.models.qwen.model import QwenState
from polyvox.models.speechlm.codec_lm import load_codec_lm


def test_the_head_has_the_codec_s_tokens_and_the_end_only():
    state, model = tiny_state(tiny_config()), tiny_lm()
    rows = model.embed_ids(torch.tensor([[1, 2, TEXT_IDS + 7]]))
    hidden, _ = model.backbone(rows, QwenState())
    everything = hidden @ state["lm_head.weight"].T
    expected = torch.cat((everything[..., TEXT_IDS : TEXT_IDS + 50], everything[..., 3:4]), dim=-1)
    torch.testing.assert_close(model.logits(hidden), expected, atol=1e-5, rtol=0)
    assert model.vocabulary == 51
    assert model.end == 50


def test_tokens_are_embedded_as_their_ids_are():
    model = tiny_lm()
    tokens = model.embed_tokens(torch.tensor([0, 49, model.end]))
    assert torch.equal(tokens, model.embed_ids(torch.tensor([TEXT_IDS, TEXT_IDS + 49, 3])))


def test_embeddings_serve_as_the_head_where_there_is_none():
    state = tiny_state(tiny_config())
    del state["lm_head.weight"]
    tied = load_codec_lm(tiny_config(), state)
    assert torch.equal(tied.head[7], state["model.embed_tokens.weight"][TEXT_IDS + 7])


def test_a_vocabulary_without_the_codec_s_tokens_is_refused():
    state = {name: tensor[:60] for name, tensor in tiny_state(tiny_config()).items()}
    with pytest.raises(WeightsError, match="lack row 89 of lm_head"):
        load_codec_lm(tiny_config(), state)
