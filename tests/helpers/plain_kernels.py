"""The estimator's fused kernels in plain PyTorch."""

import torch
from torch.nn import functional


def add_and_norm(rows, added, gate, scale, shift, eps):
    rows += added if gate is None else gate * added
    return functional.layer_norm(rows, rows.shape[-1:], scale, shift, eps)


def store_keys(projected, keys, values, table, rotation):
    heads, width = keys.shape[2], keys.shape[4]
    query, key, value = (each.unflatten(-1, (heads, width)).transpose(1, 2) for each in projected.chunk(3, dim=-1))
    if rotation is not None:
        for turned in (query, key):
            _rotate(turned[:, 0], *(torch.cat((each, each)) for each in rotation))
    for held, new in ((keys, key), (values, value)):
        held[table.blocks] = new.unflatten(0, (-1, len(table.blocks))).transpose(0, 1)
    return query


def _rotate(head, cosines, sines):
    first, second = head[..., ::2].clone(), head[..., 1::2].clone()
    head[..., ::2] = first * cosines - second * sines
    head[..., 1::2] = second * cosines + first * sines


def grouped_conv_mish(padded, weight, bias):
    groups = weight.shape[1]
    by_channel = weight.permute(1, 3, 2, 0).flatten(0, 1)
    return functional.mish(functional.conv1d(padded.transpose(1, 2), by_channel, bias, groups=groups)).transpose(1, 2)


def mish_and_norm(rows, norm, added, next_norm):
    out = functional.mish(norm(rows)) + added
    return out, next_norm(out)


def conv_inputs(rows, norm, added, context, inputs, offset):
    new = rows if norm is None else functional.mish(norm(rows))
    new = new if added is None else new + added
    blocks, before = context.table.blocks, context.held.shape[2]
    held = context.held[..., offset : offset + rows.shape[1]]
    new = new.unflatten(0, (held.shape[1], len(blocks), -1))
    held[blocks] = new[:, :, new.shape[2] - before :].transpose(0, 1)
    seen = torch.cat((held[context.table.previous].transpose(0, 1), new), dim=2).flatten(0, 1)
    windows = seen.unfold(1, before + 1, 1).transpose(2, 3).flatten(0, 1)
    inputs[..., offset : offset + rows.shape[1]] = windows
