# SPDX-License-Identifier: Apache-2.0
"""Templates in core ATen, which programs have after `run_decompositions()` or from other exporters."""

import torch
import torch.nn.functional as F

from .drawing import Constant, Step
from .elements import bind
from .layers import groups_of, window

ATEN = torch.ops.aten


def normalisation(d):
    index, x = d.operand(lambda x: x.dim() > 2 and x[0, 0].numel() > 1)
    name, eps = d.pick("layer", "group", "batch", "rms"), d.pick(1e-5, 1e-3)
    channels = x.shape[1]
    if name in ("layer", "rms"):
        sizes = list(x.shape[-d.whole(1, 2) :])
        scale, offset = Constant((d.uniform(0.5, 1.5, *sizes),)), Constant((d.normal(*sizes),))
        if name == "rms":
            return Step(lambda x, w: ATEN._fused_rms_norm(x, sizes, w, eps)[0], [index, scale])
        return Step(lambda x, w, b: ATEN.native_layer_norm(x, sizes, w, b, eps)[0], [index, scale, offset])
    scale, offset = Constant((d.uniform(0.5, 1.5, channels),)), Constant((d.normal(channels),))
    if name == "group":
        groups = d.pick(*(g for g in range(1, channels + 1) if channels % g == 0))
        sizes = x.shape[0], channels, x[0, 0].numel(), groups
        return Step(lambda x, w, b: ATEN.native_group_norm(x, w, b, *sizes, eps)[0], [index, scale, offset])
    mean, variance = Constant((d.normal(channels),)), Constant((d.uniform(0.3, 2, channels),))
    function = ATEN._native_batch_norm_legit_no_training
    return Step(lambda x, w, b, m, v: function(x, w, b, m, v, 0.1, eps)[0], [index, scale, offset, mean, variance])


def convolution(d):
    index, x = d.operand(lambda x: x.numel() < 8000, rank=d.pick(3, 4, 4))
    if index is None:
        return None
    channels, axes = x.shape[1], x.dim() - 2
    kernel, stride, padding, dilation = zip(*(window(d, size) for size in x.shape[2:]))
    turned = d.chance(0.25)
    groups = 1 if turned else groups_of(d, channels)
    out = groups * d.whole(1, max(1, 16 // groups))
    if out > 96:
        return None
    sizes = [channels, out] if turned else [out, channels // groups]
    weight = d.weight(d.normal(*sizes, *kernel), axis=int(turned))
    padding = [min(p, k // 2) for p, k in zip(padding, kernel)]
    extra = [d.whole(0, s - 1) if turned else 0 for s in stride]
    dilation = [1] * axes if turned else dilation
    arguments = list(stride), list(padding), list(dilation), turned, extra, groups
    return Step(bind(ATEN.convolution.default, *arguments), [index, weight, d.bias(index, weight, out)], layer=True)


def pooling(d):
    index, x = d.operand(lambda x: x.numel() < 8000, rank=d.pick(3, 4))
    if index is None:
        return None
    kernel, stride, padding, dilation = zip(*(window(d, size) for size in x.shape[2:]))
    padding = [min(p, k // 2) for p, k in zip(padding, kernel)]
    function = F.max_pool2d_with_indices if x.dim() == 4 else F.max_pool1d_with_indices
    arguments = kernel, stride, padding, dilation, d.chance(0.3)
    return Step(lambda x: function(x, *arguments)[0], [index])


def scalar(d):
    index, x = d.operand()
    number, mode = d.pick(2, -1, d.number(0.1, 3)), d.pick("floor", "trunc")
    pads = [d.pick(0, 1, 2) for _ in range(2 * d.whole(1, max(1, x.dim())))]
    function = d.pick(
        bind(ATEN.div.Scalar_mode, number, rounding_mode=mode),
        bind(ATEN.div.Scalar, number),
        bind(ATEN.constant_pad_nd.default, pads, d.number(-1, 1)),
        bind(ATEN.clamp.default, d.number(-2, 0), d.number(0.1, 3)),
        lambda x: ATEN.native_dropout.default(x, 0.5, False)[0],
        bind(ATEN._to_copy.default, dtype=torch.float32),
    )
    return Step(function, [index])


def prelu(d):
    index, x = d.operand(lambda x: x.dim() > 1)
    sizes = [1, x.shape[1], *[1] * (x.dim() - 2)]
    return Step(ATEN._prelu_kernel.default, [index, d.constant(d.uniform(0.01, 0.5, *sizes))])


def nearest(d):
    index, x = d.operand(lambda x: x.numel() < 5000, rank=d.pick(3, 4, 4))
    if index is None:
        return None
    if d.chance(0.6):
        return Step(bind(F.interpolate, scale_factor=d.pick(2, 2, 3, 4, 1.5), mode="nearest-exact"), [index])
    sizes = [d.pick(1, 2, 5, 8, 16) for _ in x.shape[2:]]
    return Step(bind(F.interpolate, size=sizes, mode="nearest-exact"), [index])
