"""Networks of the shapes that the listening models have, small and trained by nobody."""

import numpy as np
import numpy.typing as npt

Weights = dict[str, npt.NDArray[np.float32]]

BLOCKS = ((12, 1), (24, 2), (16, 2))
HEAD, WIDTH, INNER, GROWTH = 2, 8, 4, 4
TRUNK = "model.transformer_pool_attn"


class RandomWeights(dict):
    """Weights of a network that nobody trained, but whose activations stay within bounds."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._random = np.random.default_rng(seed)

    def tensor(self, name: str, *shape: int) -> None:
        scale = 1 / np.sqrt(max(1, np.prod(shape[1:])))
        self[name] = (self._random.standard_normal(shape) * scale).astype(np.float32)

    def layer(self, name: str, *shape: int) -> None:
        self.tensor(f"{name}.weight", *shape)
        self.tensor(f"{name}.bias", shape[0])

    def norm(self, name: str, channels: int, *, learned: bool = True) -> None:
        self.tensor(f"{name}.running_mean", channels)
        self[f"{name}.running_var"] = self._random.uniform(0.5, 2.0, channels).astype(np.float32)
        if learned:
            self.layer(name, channels)


def campplus_weights() -> Weights:
    weights = RandomWeights(1)
    weights.tensor("head.conv1.weight", HEAD, 1, 3, 3)
    weights.norm("head.bn1", HEAD)
    for layer in ("head.layer1", "head.layer2"):
        for block in (f"{layer}.0", f"{layer}.1"):
            for number in (1, 2):
                weights.tensor(f"{block}.conv{number}.weight", HEAD, HEAD, 3, 3)
                weights.norm(f"{block}.bn{number}", HEAD)
        weights.tensor(f"{layer}.0.shortcut.0.weight", HEAD, HEAD, 1, 1)
        weights.norm(f"{layer}.0.shortcut.1", HEAD)
    weights.tensor("head.conv2.weight", HEAD, HEAD, 3, 3)
    weights.norm("head.bn2", HEAD)
    weights.tensor("xvector.tdnn.linear.weight", WIDTH, HEAD * 10, 5)
    weights.norm("xvector.tdnn.nonlinear.batchnorm", WIDTH)
    channels = WIDTH
    for number, (layers, _) in enumerate(BLOCKS, start=1):
        for layer in range(1, layers + 1):
            name = f"xvector.block{number}.tdnnd{layer}"
            weights.norm(f"{name}.nonlinear1.batchnorm", channels)
            weights.tensor(f"{name}.linear1.weight", INNER, channels, 1)
            weights.norm(f"{name}.nonlinear2.batchnorm", INNER)
            weights.tensor(f"{name}.cam_layer.linear_local.weight", GROWTH, INNER, 3)
            weights.layer(f"{name}.cam_layer.linear1", 2, INNER, 1)
            weights.layer(f"{name}.cam_layer.linear2", GROWTH, 2, 1)
            channels += GROWTH
        weights.norm(f"xvector.transit{number}.nonlinear.batchnorm", channels)
        channels //= 2
        weights.tensor(f"xvector.transit{number}.linear.weight", channels, channels * 2, 1)
    weights.norm("xvector.out_nonlinear.batchnorm", channels)
    weights.tensor("xvector.dense.linear.weight", 192, channels * 2, 1)
    weights.norm("xvector.dense.nonlinear.batchnorm", 192, learned=False)
    return weights


def distillmos_weights() -> Weights:
    weights = RandomWeights(2)
    channels = (2, 2, 2, 4, 4, 4, 256)
    for index in range(6):
        weights.layer(f"model.cnn.cnn.{2 * index}", channels[index + 1], channels[index], 3, 3)
    for norm, size in (("norm_input", 1024), ("transformer.norm", 1024), ("norm_trans", 200)):
        weights.norm(f"{TRUNK}.{norm}", size)
    weights.layer(f"{TRUNK}.transformer.linear_proj", 200, 1024)
    weights.tensor(f"{TRUNK}.transformer.position_encoding.pe", 1, 384, 200)
    for layer in range(7):
        name = f"{TRUNK}.transformer.transformer_encoder.layers.{layer}"
        weights.tensor(f"{name}.self_attn.in_proj_weight", 600, 200)
        weights.tensor(f"{name}.self_attn.in_proj_bias", 600)
        weights.layer(f"{name}.self_attn.out_proj", 200, 200)
        weights.layer(f"{name}.linear1", 16, 200)
        weights.layer(f"{name}.linear2", 200, 16)
        weights.layer(f"{name}.norm1", 200)
        weights.layer(f"{name}.norm2", 200)
    weights.layer(f"{TRUNK}.pool.linear1", 16, 200)
    weights.layer(f"{TRUNK}.pool.linear2", 1, 16)
    weights.layer(f"{TRUNK}.pool.linear3", 1, 200)
    return weights
