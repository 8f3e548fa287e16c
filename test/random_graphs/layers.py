# SPDX-License-Identifier: Apache-2.0
"""Templates of layers: convolutions, poolings, products, normalisations, attention, recurrences."""

import torch
import torch.nn.functional as F

from .drawing import Constant, Step
from .elements import bind


def window(d, size):
    """(kernel, stride, padding, dilation) of one axis; mostly such as networks have, now and then as large as
    the axis or as the NPUs allow."""
    kernel = d.pick(1, 2, 3, 3, 3, 5, 7, 11)
    if d.chance(0.06):
        kernel = d.pick(*(k for k in (size, size - 1, 16, 32, 64, 65, 127, 256, 257) if 0 < k <= size))
    stride = d.pick(1, 1, 1, 2, 2, 3, 4, kernel)
    padding, dilation = d.pick(0, 0, kernel // 2, 1), d.pick(1, 1, 1, 1, 2, 3)
    if dilation * (kernel - 1) >= size + 2 * padding:  # no result
        kernel, dilation = min(kernel, size), 1
        padding = min(padding, kernel // 2)
    return kernel, stride, padding, dilation


def groups_of(d, channels):
    return d.pick(1, 1, 1, channels, *(g for g in (2, 3, 4) if channels % g == 0))


def convolution(d):
    rank = d.pick(4, 4, 4, 3)
    index, x = d.operand(rank=rank)
    axes, channels = rank - 2, x.shape[1]
    kernel, stride, padding, dilation = zip(*(window(d, size) for size in x.shape[2:]))
    groups = groups_of(d, channels)
    out = groups * d.whole(1, max(1, 24 // groups))
    if out > 96:
        return None
    weight = d.weight(d.normal(out, channels // groups, *kernel))
    if d.chance(0.15):
        stride, padding = (1,) * axes, d.pick("same", "valid")
    function = F.conv2d if axes == 2 else F.conv1d
    operands = [index, weight, d.bias(index, weight, out)]
    return Step(bind(function, stride, padding, dilation, groups), operands, layer=True)


def transposed_convolution(d):
    rank = d.pick(4, 4, 3)
    index, x = d.operand(rank=rank)
    axes, channels = rank - 2, x.shape[1]
    kernel = [d.whole(1, 5) for _ in range(axes)]
    stride = [d.pick(1, 2, 2, 3)] * axes if d.chance(0.7) else [d.whole(1, 4) for _ in range(axes)]
    padding = [d.whole(0, max(0, k // 2)) for k in kernel]
    extra = [d.whole(0, s - 1) for s in stride]
    groups = groups_of(d, channels) if d.chance(0.3) else 1
    per_group = d.whole(1, max(1, 12 // groups))
    weight = d.weight(d.normal(channels, per_group, *kernel), axis=1)
    function = F.conv_transpose2d if axes == 2 else F.conv_transpose1d
    operands = [index, weight, d.bias(index, weight, per_group * groups, groups)]
    return Step(bind(function, stride, padding, extra, groups), operands, layer=True)


def pooling(d):
    rank = d.pick(4, 4, 4, 3)
    index, x = d.operand(rank=rank)
    axes = rank - 2
    kernel, stride, padding, dilation = zip(*(window(d, size) for size in x.shape[2:]))
    padding = [min(p, k // 2) for p, k in zip(padding, kernel)]
    ceil = d.chance(0.3)
    name = d.pick("max", "avg", "adaptive", "indices")
    if name == "adaptive":
        sizes = [d.pick(1, 1, 2, size) for size in x.shape[2:]]
        return Step(bind(F.adaptive_avg_pool2d if axes == 2 else F.adaptive_avg_pool1d, sizes), [index])
    if name == "avg":
        function = F.avg_pool2d if axes == 2 else F.avg_pool1d
        return Step(bind(function, kernel, stride, padding, ceil, d.chance(0.5)), [index])
    function = F.max_pool2d if axes == 2 else F.max_pool1d
    if name == "indices" and axes == 2:
        return Step(lambda x: F.max_pool2d(x, kernel, stride, padding, dilation, ceil, True)[0], [index])
    return Step(bind(function, kernel, stride, padding, dilation, ceil), [index])


def linear(d):
    index, x = d.operand(lambda x: x.dim() > 0 and x.shape[-1] <= 512)
    out = d.whole(1, 48)
    weight = d.weight(d.normal(out, x.shape[-1]))
    return Step(F.linear, [index, weight, d.bias(index, weight, out)], layer=True)


def product(d):
    index, x = d.operand(lambda x: x.dim() > 0 and x.shape[-1] <= 256)
    inner, out = x.shape[-1], d.pick(1, 2, 5, 8, 16, 17)
    if x.dim() == 1:
        if d.chance(0.5):
            return Step(torch.dot, [index, d.like([inner])])
        return Step(torch.matmul, [index, d.like([inner, out])])
    if x.dim() == 2:
        name = d.pick("mm", "mv", "addmm", "matmul")
        if name == "mv":
            return Step(torch.mv, [index, d.like([inner])])
        other = d.like([inner, out])
        if name == "addmm":
            sizes = d.pick([out], [x.shape[0], out])
            options = {"beta": d.pick(1, 1, 2), "alpha": d.pick(1, 1, 0.5)}
            return Step(bind(torch.addmm, **options), [d.like(sizes), index, other])
        return Step(torch.mm if name == "mm" else torch.matmul, [index, other])
    if x.dim() == 3:
        name = d.pick("bmm", "baddbmm", "matmul", "turned")
        other = d.like([x.shape[0], inner, out], constant=0.2)
        if name == "baddbmm":
            return Step(torch.baddbmm, [d.like([x.shape[0], x.shape[1], out]), index, other])
        if name == "turned":
            return Step(lambda x, y: torch.matmul(x, y.transpose(-1, -2)), [index, d.like([x.shape[0], out, inner])])
        return Step(torch.bmm if name == "bmm" else torch.matmul, [index, other])
    sizes = d.pick([*x.shape[:-2], inner, out], [inner, out], [*([1] * (x.dim() - 2)), inner, out], [inner])
    return Step(torch.matmul, [index, d.like(sizes, constant=0.2)])


def normalisation(d):
    index, x = d.operand(lambda x: x.dim() > 1)
    name = d.pick("layer", "layer", "rms", "group", "instance", *(() if d.quantised else ["batch"]))
    eps = d.pick(1e-5, 1e-3)
    if name in ("layer", "rms"):
        sizes = list(x.shape[-d.whole(1, 2) :])
        scale = Constant((d.uniform(0.5, 1.5, *sizes) if d.chance(0.8) else None,))
        if name == "rms":
            return Step(lambda x, w: F.rms_norm(x, sizes, w, eps), [index, scale])
        offset = Constant((d.normal(*sizes) if scale.tensors[0] is not None else None,))
        return Step(lambda x, w, b: F.layer_norm(x, sizes, w, b, eps), [index, scale, offset])
    channels = x.shape[1]
    scale, offset = Constant((d.uniform(0.5, 1.5, channels),)), Constant((d.normal(channels),))
    if name == "batch":
        mean, variance = Constant((d.normal(channels),)), Constant((d.uniform(0.3, 2, channels),))
        function = lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b, False, 0.1, eps)  # noqa: E731
        return Step(function, [index, mean, variance, scale, offset])
    if x.dim() < 3 or x[0, 0].numel() < 2:
        return None
    if name == "instance":
        return Step(lambda x, w, b: F.instance_norm(x, None, None, w, b, True, 0.1, eps), [index, scale, offset])
    groups = d.pick(*(g for g in range(1, channels + 1) if channels % g == 0))
    return Step(lambda x, w, b: F.group_norm(x, groups, w, b, eps), [index, scale, offset])


def prelu(d):
    index, x = d.operand(lambda x: x.dim() > 1)
    return Step(F.prelu, [index, d.weight(d.uniform(0.01, 0.5, d.pick(1, x.shape[1])))])


def attention(d):
    index, x = d.operand(lambda x: x.numel() < 4000 and x.shape[-1] > 1, rank=d.pick(3, 4, 4))
    if index is None:
        return None
    length = d.pick(x.shape[-2], 1, 8)
    keys = d.like([*x.shape[:-2], length, x.shape[-1]], constant=0)
    values = d.like([*x.shape[:-2], length, d.pick(x.shape[-1], 4)], constant=0)
    if d.chance(0.3):
        mask = d.uniform(0, 1, x.shape[-2], length) < 0.8
        mask[:, 0] = True
        return Step(F.scaled_dot_product_attention, [index, keys, values, Constant((mask,))])
    return Step(bind(F.scaled_dot_product_attention, is_causal=d.chance(0.3)), [index, keys, values])


def recurrence(d):
    """Of float programs: quantisers take them apart."""
    if d.quantised:
        return None
    kind = d.pick("lstm", "gru", "rnn_tanh", "rnn_relu")
    hidden = d.whole(1, 12)
    rows = {"lstm": 4, "gru": 3}.get(kind, 1) * hidden
    if d.chance(0.3):
        return cell(d, kind, hidden, rows)
    index, x = d.operand(lambda x: x.shape[1] <= 8 and x.shape[2] <= 64, rank=3)
    if index is None:
        return None
    both = 1 + d.chance(0.25)
    weights = []
    for _ in range(both):
        weights += [d.weight(d.normal(rows, x.shape[2]) * 0.5), d.weight(d.normal(rows, hidden) * 0.5)]
        weights += [Constant((d.normal(rows) * 0.1,)), Constant((d.normal(rows) * 0.1,))]
    sizes = both, x.shape[0], hidden

    def run(x, *parameters):
        state = torch.zeros(sizes, dtype=x.dtype)
        options = True, 1, 0.0, False, both == 2, True
        start = (state, state) if kind == "lstm" else state
        return getattr(torch, kind)(x, start, list(parameters), *options)[0]

    return Step(run, [index, *weights])


def cell(d, kind, hidden, rows):
    index, x = d.operand(lambda x: x.shape[1] <= 64, rank=2)
    if index is None:
        return None
    states = [d.like([x.shape[0], hidden], constant=0) for _ in range(1 + (kind == "lstm"))]
    weights = [d.weight(d.normal(rows, x.shape[1]) * 0.5), d.weight(d.normal(rows, hidden) * 0.5)]
    weights += [Constant((d.normal(rows) * 0.1,)), Constant((d.normal(rows) * 0.1,))]

    def run(x, *operands):
        start = operands[0] if len(states) == 1 else operands[: len(states)]
        return getattr(torch, f"{kind}_cell")(x, start, *operands[len(states) :])

    return Step(run, [index, *states, *weights])
