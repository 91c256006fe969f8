"""The talker, which generates the first code of each frame, and the code predictor, which generates the others."""

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.loading import StateDict, load, renamed
from polyvox.models.lookup import lookup
from polyvox.models.qwen.model import Qwen, QwenState
from polyvox.models.qwen3tts.config import Qwen3TtsConfig

_SPEAKER_ENCODER = "speaker_encoder."
_NAMES = (
    (r"^talker\.code_predictor\.model\.codec_embedding\.(\d+)\.weight$", r"predictor.tables.\1.weight"),
    (r"^talker\.code_predictor\.small_to_mtp_projection\.", "predictor.narrow."),
    (r"^talker\.code_predictor\.lm_head\.", "predictor.heads."),
    (r"^talker\.code_predictor\.model\.", "predictor.backbone."),
    (r"^talker\.model\.codec_embedding\.", "backbone.embed_tokens."),
    (r"^talker\.model\.text_embedding\.", "text_embedding."),
    (r"^talker\.model\.", "backbone."),
    (r"^talker\.text_projection\.", "text_projection."),
    (r"^talker\.codec_head\.", "head."),
)


class CodePredictor(nn.Module):
    """The codes of a frame behind its first: a small decoder that begins anew with every frame."""

    def __init__(self, config: Qwen3TtsConfig) -> None:
        super().__init__()
        following, width, hidden = config.groups - 1, config.talker.hidden, config.predictor.hidden
        self.backbone = Qwen(replace(config.predictor, vocabulary=0))
        self.tables = nn.Parameter(torch.empty(following, config.codes, width))
        """Rows of the talker's width for the codes of each group from 1 on."""
        self.heads = nn.Parameter(torch.empty(following, config.codes, hidden))
        self.narrow = nn.Identity() if width == hidden else nn.Linear(width, hidden)

    def embed(self, group: int, codes: Tensor) -> Tensor:
        """Rows of the talker's width for codes of a group from 1 on."""
        return functional.embedding(codes, self.tables[group - 1])

    def logits(self, group: int, hidden: Tensor) -> Tensor:
        """Logits of a group from 1 on."""
        return functional.linear(hidden, self.heads[group - 1])

    def begin(self, hidden: Tensor, first: Tensor) -> tuple[Tensor, QwenState]:
        """Logits of group 1 behind `hidden` [n, width], the talker's, and the first code's row [n, width]."""
        return self._step(1, torch.stack((hidden, first), dim=1), QwenState())

    def go_on(self, group: int, codes: Tensor, state: QwenState) -> tuple[Tensor, QwenState]:
        """Logits of the group behind `group`, whose codes [n] are known."""
        return self._step(group + 1, self.embed(group, codes)[:, None], state)

    def _step(self, group: int, rows: Tensor, state: QwenState) -> tuple[Tensor, QwenState]:
        hidden, state = self.backbone(self.narrow(rows), state)
        return self.logits(group, hidden[:, -1]), state


class Talker(nn.Module):
    """The language model over frames: text and codec rows in, logits of a frame's first code out."""

    def __init__(self, config: Qwen3TtsConfig) -> None:
        super().__init__()
        self.config = config
        self.backbone = Qwen(config.talker)
        self.predictor = CodePredictor(config)
        self.text_embedding = lookup(config.text_vocabulary, config.text_width)
        self.text_projection = _TextProjection(config.text_width, config.talker.hidden)
        self.head = nn.Linear(config.talker.hidden, config.talker.vocabulary, bias=False)

    @property
    def vocabulary(self) -> int:
        """Size of the head's vocabulary: codes, marks, languages and speakers."""
        return self.config.talker.vocabulary

    def text_rows(self, ids: Tensor) -> Tensor:
        """The text side of input rows."""
        rows: Tensor = self.text_projection(functional.embedding(ids, self.text_embedding.weight))
        return rows

    def codec_rows(self, ids: Tensor) -> Tensor:
        """The codec side of input rows that are marks, languages, speakers or first codes."""
        return self.backbone.embed(ids)

    def frame_rows(self, frames: Tensor) -> Tensor:
        """The codec side of input rows that are whole frames, [..., groups]."""
        groups = torch.arange(self.config.groups - 1, device=frames.device)
        return self.codec_rows(frames[..., 0]) + self.predictor.tables[groups, frames[..., 1:]].sum(dim=-2)

    def logits(self, hidden: Tensor) -> Tensor:
        """[..., hidden] to [..., vocabulary]."""
        out: Tensor = self.head(hidden)
        return out


class _TextProjection(nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.linear_fc1 = nn.Linear(width, width)
        self.linear_fc2 = nn.Linear(width, hidden)

    def forward(self, rows: Tensor) -> Tensor:
        out: Tensor = self.linear_fc2(functional.silu(self.linear_fc1(rows)))
        return out


def load_talker(config: Qwen3TtsConfig, state: StateDict, dtype: torch.dtype = torch.float32) -> Talker:
    """Load a published state dict, without the speaker encoder that a model for cloning has beside it."""
    given = {name: tensor for name, tensor in state.items() if not name.startswith(_SPEAKER_ENCODER)}
    weights = renamed(_NAMES, given)
    for part in ("tables", "heads"):
        names = [f"predictor.{part}.{index}.weight" for index in range(config.groups - 1)]
        if all(name in weights for name in names):
            weights[f"predictor.{part}"] = torch.stack([weights.pop(name) for name in names])
    # Each group has a table of its own, so the predictor's decoder has none.
    weights["predictor.backbone.embed_tokens.weight"] = torch.empty(0, config.predictor.hidden)
    return load(lambda: Talker(config), weights, dtype)
