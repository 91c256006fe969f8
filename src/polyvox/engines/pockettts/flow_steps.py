"""Steps of the language model for many streams at once: in PyTorch, or as an ONNX graph on the CPU.

The streams are the first rows of one KV cache, so that a step works on views of it: nothing is gathered. A row that
ends is filled by the last one.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from polyvox.bundles.onnx_graphs.builder import serialize
from polyvox.engines.pockettts.graphs import flow_lm_graph
from polyvox.engines.pockettts.voice_state import VoiceState
from polyvox.models.pockettts.flow_head import FlowHead
from polyvox.models.pockettts.flow_lm import FlowLm, KvRows
from polyvox.onnx_session import open_session
from polyvox.runtime.executors.cuda_graphs import Replay, bucket_for, buckets

Floats = npt.NDArray[np.float32]
_SHORTEST = 256
"""Positions that the shortest captured step reads."""
_DEVICE_BEGINS = 16
_DEVICE_VOICES = 32
"""Voices that stay on the device, 3 MB each."""


class FlowSteps(Protocol):
    """A KV cache of `rows` streams with `capacity` positions each. One thread may use it."""

    rows: int
    capacity: int
    begins: int
    """Streams that are worth beginning together."""

    @property
    def first_latent(self) -> Floats:
        """The latent in front of the first frame."""

    def begin(self, row: int, voices: Sequence[VoiceState], texts: Sequence[tuple[int, ...]]) -> None:
        """Begin the rows from `row` on, each with a voice and the ids of a text."""

    def read_voice(self, row: int, latents: Floats) -> VoiceState:
        """Begin a row with the encoder's latents [n, latent]; the voice that it has then."""

    def step(self, latents: Floats, noise: Floats) -> tuple[Floats, Floats]:
        """Read the last latents [n, latent] of the first n rows; their next ones, and their end-of-speech logits."""

    def move(self, source: int, target: int) -> None:
        """Put what a row has into another one."""


class TorchSteps:
    """Steps in PyTorch; captured as CUDA graphs where `replay` is given."""

    def __init__(
        self, lm: FlowLm, head: FlowHead, rows: int, capacity: int, *, steps: int = 1, replay: Replay | None = None
    ) -> None:
        self.rows, self.capacity = rows, capacity
        self._lm, self._head, self._replay = lm, head, replay
        with torch.inference_mode():
            self._times = head.times(steps)
        embedding = lm.embedding
        self._device = embedding.device
        self._cache = KvRows.empty(lm.config, rows, capacity, embedding.device, embedding.dtype)
        self._lengths = np.zeros(rows, np.int64)
        self.begins = 1 if embedding.device.type == "cpu" else _DEVICE_BEGINS
        self._batches = buckets(rows)
        self._spans = buckets(capacity, start=_SHORTEST)
        self._voices: OrderedDict[int, tuple[VoiceState, KvRows]] = OrderedDict()

    @property
    def first_latent(self) -> Floats:
        return _numpy(self._lm.embedding.bos_emb)

    @torch.inference_mode()
    def begin(self, row: int, voices: Sequence[VoiceState], texts: Sequence[tuple[int, ...]]) -> None:
        for index, voice in enumerate(voices, row):
            given = self._placed(voice)
            self._cache.keys[:, index, :, : voice.positions] = given.keys
            self._cache.values[:, index, :, : voice.positions] = given.values
            self._lengths[index] = voice.positions
        # Behind a shorter text lies padding; the first frames are written over it before anything reads that far.
        ids = torch.zeros(len(texts), max(map(len, texts)), dtype=torch.long)
        for line, text in zip(ids, texts, strict=True):
            line[: len(text)] = torch.tensor(text)
        self._read(row, self._lm.embedding.of_text(ids.to(self._device)), [len(text) for text in texts])

    def _placed(self, voice: VoiceState) -> KvRows:
        """A voice on the device; the last ones used stay there."""
        key = id(voice.keys)
        if key not in self._voices:
            halves = (
                torch.from_numpy(each).to(self._device, self._cache.keys.dtype) for each in (voice.keys, voice.values)
            )
            self._voices[key] = voice, KvRows(*halves)
            while len(self._voices) > _DEVICE_VOICES:
                self._voices.popitem(last=False)
        self._voices.move_to_end(key)
        return self._voices[key][1]

    @torch.inference_mode()
    def read_voice(self, row: int, latents: Floats) -> VoiceState:
        self._lengths[row] = 0
        rows = self._lm.embedding.of_voice(torch.from_numpy(latents)[None].to(self._device))
        self._read(row, rows, [rows.shape[1]])
        keys, values = (
            _numpy(each[:, row, :, : self._lengths[row]]) for each in (self._cache.keys, self._cache.values)
        )
        return VoiceState(keys, values)

    def _read(self, row: int, rows: Tensor, lengths: Sequence[int]) -> None:
        """Read rows [n, length, width], of which `lengths` count, behind what the rows from `row` on have."""
        last = row + len(rows)
        before = self._lengths[row:last]
        end = int(before.max()) + rows.shape[1]
        cache = KvRows(self._cache.keys[:, row:last, :, :end], self._cache.values[:, row:last, :, :end])
        self._lm(rows, torch.from_numpy(before.copy()).to(self._device), cache)
        self._lengths[row:last] += lengths

    @torch.inference_mode()
    def step(self, latents: Floats, noise: Floats) -> tuple[Floats, Floats]:
        count, width = latents.shape
        batch = count if self._replay is None else bucket_for(count, self._batches)
        longest = int(self._lengths[:count].max()) + 1
        span = longest if self._replay is None else bucket_for(longest, self._spans)
        table = np.zeros((batch, 2 * width + 1), np.float32)
        table[:count, :width], table[:count, width:-1] = latents, noise
        # A length is exact in float32. Rows behind the streams' read and write their own first position.
        table[:count, -1] = self._lengths[:count]
        given = torch.from_numpy(table).to(self._device)
        if self._replay is None:
            done = self._work(given, span)
        else:
            idle = torch.zeros_like(given)
            idle[:, -1] = span - 1
            done = self._replay(("step", batch, span), lambda each: self._work(each, span), (given,), (idle,))
        result = _numpy(done[:count])
        self._lengths[:count] += 1
        return result[:, :width], result[:, width]

    def _work(self, table: Tensor, span: int) -> Tensor:
        width = (table.shape[1] - 1) // 2
        rows = self._lm.embedding.of_latents(table[:, :width])
        hidden = self._lm(rows, table[:, -1].long(), self._cache.first(len(table), span))
        condition, end = self._lm.condition(hidden[:, 0])
        return torch.cat((self._head(condition, table[:, width:-1], self._times), end[:, None]), dim=1)

    def warm(self) -> None:
        """Capture all steps, before any row is in use."""
        width = self._lm.config.codec.latent
        for span in self._spans:
            for batch in self._batches:
                self._lengths[:] = span - 1
                self.step(np.zeros((batch, width), np.float32), np.zeros((batch, width), np.float32))
        self._lengths[:] = 0

    @torch.inference_mode()
    def move(self, source: int, target: int) -> None:
        length = int(self._lengths[source])
        for kept in (self._cache.keys, self._cache.values):
            kept[:, target, :, :length] = kept[:, source, :, :length]
        self._lengths[target] = length


class OrtSteps:
    """Steps as an ONNX graph on the CPU, its linear layers in 8 bits where asked; the KV cache is written in place."""

    begins = 1

    def __init__(
        self,
        lm: FlowLm,
        head: FlowHead,
        rows: int,
        capacity: int,
        *,
        steps: int = 1,
        threads: int = 1,
        eight_bits: bool = True,
    ) -> None:
        self.rows, self.capacity = rows, capacity
        self._embedding, self._layers = lm.embedding, lm.config.transformer.layers
        self._latent = lm.config.codec.latent
        sizes = lm.config.transformer
        shape = (rows, sizes.key_heads, capacity, sizes.head_width)
        with torch.inference_mode():
            model = serialize(flow_lm_graph(lm, head, steps, capacity, eight_bits=eight_bits))
        self._session = open_session(model, threads, mem_pattern=False)
        self._keys = [np.zeros(shape, np.float32) for _ in range(self._layers)]
        self._values = [np.zeros(shape, np.float32) for _ in range(self._layers)]
        self._lengths = np.zeros(rows, np.int64)

    @property
    def first_latent(self) -> Floats:
        return _numpy(self._embedding.bos_emb)

    @torch.inference_mode()
    def begin(self, row: int, voices: Sequence[VoiceState], texts: Sequence[tuple[int, ...]]) -> None:
        for index, (voice, ids) in enumerate(zip(voices, texts, strict=True), row):
            for kept, given in ((self._keys, voice.keys), (self._values, voice.values)):
                for layer, new in zip(kept, given, strict=True):
                    layer[index, :, : voice.positions] = new
            self._lengths[index] = voice.positions
            self._read(index, _numpy(self._embedding.of_text(torch.tensor([ids]))))

    @torch.inference_mode()
    def read_voice(self, row: int, latents: Floats) -> VoiceState:
        self._lengths[row] = 0
        self._read(row, _numpy(self._embedding.of_voice(torch.from_numpy(latents)[None])))
        end = self._lengths[row]
        keys, values = (np.stack([each[row, :, :end] for each in kept]) for kept in (self._keys, self._values))
        return VoiceState(keys, values)

    def _read(self, row: int, rows: Floats) -> None:
        self._run(row, rows, np.zeros((1, self._latent), np.float32))
        self._lengths[row] += rows.shape[1]

    @torch.inference_mode()
    def step(self, latents: Floats, noise: Floats) -> tuple[Floats, Floats]:
        result = self._run(0, _numpy(self._embedding.of_latents(torch.from_numpy(latents))), noise)
        self._lengths[: len(latents)] += 1
        return result

    def move(self, source: int, target: int) -> None:
        length = self._lengths[source]
        for each in (*self._keys, *self._values):
            each[target, :, :length] = each[source, :, :length]
        self._lengths[target] = length

    def _run(self, row: int, rows: Floats, noise: Floats) -> tuple[Floats, Floats]:
        """Read rows [n, length, width] behind what the rows from `row` on have."""
        count, new = rows.shape[:2]
        last = (self._lengths[row : row + count] + new - 1).astype(np.int32)
        total = np.array(last.max() + 1, np.int32)
        latent, end = np.empty((count, self._latent), np.float32), np.empty((count, 1), np.float32)
        binding = self._session.io_binding()
        given = {"rows": np.ascontiguousarray(rows), "noise": np.ascontiguousarray(noise), "last": last, "total": total}
        found = {"latent": latent, "end": end}
        for index, (keys, values) in enumerate(zip(self._keys, self._values, strict=True)):
            for name, kept in (("key", keys), ("value", values)):
                given[f"{name}_{index}"] = found[f"new_{name}_{index}"] = kept[row : row + count]
        for name, array in given.items():
            binding.bind_input(name, "cpu", 0, array.dtype.type, array.shape, array.ctypes.data)
        for name, array in found.items():
            binding.bind_output(name, "cpu", 0, array.dtype.type, array.shape, array.ctypes.data)
        self._session.run_with_iobinding(binding)
        return latent, end[:, 0]


def _numpy(tensor: Tensor) -> npt.NDArray[Any]:
    array: npt.NDArray[Any] = tensor.detach().float().cpu().numpy()
    return array
