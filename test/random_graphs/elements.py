# SPDX-License-Identifier: Apache-2.0
"""Templates of what computes element by element, such as activations. A template takes a Drawing and gives a
Step, or None when nothing suits."""

import torch
import torch.nn.functional as F

from .drawing import Constant, Step

ACTIVATIONS = {
    "relu": lambda d: torch.relu,
    "relu6": lambda d: F.relu6,
    "hardtanh": lambda d: bind(F.hardtanh, d.number(-2, 0), d.number(0.1, 3)),
    "clamp": lambda d: bind(torch.clamp, d.pick(None, d.number(-2, 0)), d.number(0.1, 3)),
    "clamp from": lambda d: bind(torch.clamp, d.number(-2, 1)),
    "clamp_min": lambda d: bind(torch.clamp_min, d.number(-2, 1)),
    "clamp_max": lambda d: bind(torch.clamp_max, d.number(-1, 2)),
}
CURVES = {
    "leaky_relu": lambda d: bind(F.leaky_relu, d.number(0, 0.5)),
    "elu": lambda d: bind(F.elu, d.number(0.2, 2)),
    "celu": lambda d: bind(F.celu, d.number(0.2, 2)),
    "gelu": lambda d: bind(F.gelu, approximate=d.pick("none", "tanh")),
    "softplus": lambda d: bind(F.softplus, d.number(0.5, 2), d.number(5, 20)),
    "power": lambda d: bind(torch.pow, d.pick(2, 3, 2.0, 4, 0.5, -1)),
    "exponential": lambda d: bind(base_to_the, d.number(0.3, 3)),
    "round": lambda d: torch.round,
    "threshold": lambda d: bind(F.threshold, d.number(-1, 1), d.number(-1, 1)),
    "hardshrink": lambda d: bind(F.hardshrink, d.number(0, 1)),
    "softshrink": lambda d: bind(F.softshrink, d.number(0, 1)),
    "rrelu": lambda d: bind(F.rrelu, 0.1, d.number(0.1, 0.5)),
    "logit": lambda d: bind(torch.logit, d.number(0.001, 0.1)),
    **{
        function.__name__: lambda d, function=function: function
        for function in (
            *(F.selu, F.silu, F.mish, F.logsigmoid, F.hardsigmoid, F.hardswish, torch.sigmoid, torch.tanh, torch.exp, torch.expm1),
            *(torch.log, torch.log2, torch.log10, torch.log1p, torch.rsqrt, torch.reciprocal, torch.square, torch.sqrt),
            *(torch.sin, torch.cos, torch.tan, torch.sinh, torch.cosh, torch.asin, torch.acos, torch.atan, torch.asinh),
            *(torch.exp2, torch.erfc, torch.sinc, torch.frac, torch.deg2rad, torch.rad2deg, torch.nan_to_num),
            *(torch.acosh, torch.atanh, torch.erf, torch.abs, torch.neg, torch.sign, torch.floor, torch.ceil, torch.trunc),
        )
    },
}
PAIRS = {
    "add": lambda d: bind(torch.add, alpha=d.pick(1, 1, 1, 2, 0.5)),
    "sub": lambda d: bind(torch.sub, alpha=d.pick(1, 1, 1, 2, 0.5)),
    "rsub": lambda d: torch.rsub,
    "mul": lambda d: torch.mul,
    "div": lambda d: torch.div,
    "div_mode": lambda d: bind(torch.div, rounding_mode=d.pick("floor", "trunc")),
    "floor_divide": lambda d: torch.floor_divide,
    "remainder": lambda d: torch.remainder,
    "fmod": lambda d: torch.fmod,
    "maximum": lambda d: torch.maximum,
    "minimum": lambda d: torch.minimum,
    "pow": lambda d: torch.pow,
    "atan2": lambda d: torch.atan2,
    "hypot": lambda d: torch.hypot,
    "logaddexp": lambda d: torch.logaddexp,
    "heaviside": lambda d: torch.heaviside,
}
COMPARISONS = (torch.eq, torch.ne, torch.lt, torch.le, torch.gt, torch.ge)
# Functions whose result is finite for these operands only.
DOMAINS = {
    "log": 1e-3, "log2": 1e-3, "log10": 1e-3, "rsqrt": 1e-3, "reciprocal": 1e-3, "sqrt": 0, "acosh": 1,
    "power": 1e-3, "log1p": -0.9,
}  # fmt: skip


def bind(function, *arguments, **options):
    return lambda *operands: function(*operands, *arguments, **options)


def base_to_the(x, base):
    return torch.pow(base, x)


def activation(d, operand=None):
    index = d.operand()[0] if operand is None else operand
    return Step(ACTIVATIONS[d.pick(*ACTIVATIONS)](d), [index])


def curve(d):
    name = d.pick(*CURVES)
    if name in ("asin", "acos", "atanh"):
        index, _ = d.operand(lambda x: x.abs().max() < 1)
    else:
        low = DOMAINS.get(name)
        index, _ = d.operand(lambda x: low is None or x.min() >= low)
    if index is None and name in DOMAINS:
        index, _ = d.input(d.uniform(DOMAINS[name] + 0.01, 3, *d.shape()))
    return None if index is None else Step(CURVES[name](d), [index])


def broadcast(d, x):
    """A shape that broadcasts with x's."""
    sizes = [1 if d.chance(0.25) else size for size in x.shape]
    return sizes[d.whole(0, len(sizes)) :] if d.chance(0.2) else sizes


def pair(d):
    index, x = d.operand()
    other = d.like(x.shape if d.chance(0.6) else broadcast(d, x))
    name = d.pick("add", "add", "sub", "mul", "mul", *PAIRS)
    operands = [index, other] if d.chance(0.8) else [other, index]
    if isinstance(operands[0], Constant) and isinstance(operands[1], Constant):
        return None
    return Step(PAIRS[name](d), operands, layer=name in ("add", "sub", "mul"))


def scalar(d):
    index, _ = d.operand()
    number = d.pick(1, 2, -1, 0, d.number(-3, 3), d.number(0.1, 3))
    function = d.pick(
        torch.add, torch.sub, torch.mul, torch.div, torch.rsub, torch.floor_divide, torch.remainder, torch.fmod,
        bind_mode(d),
    )  # fmt: skip
    return Step(bind(function, number), [index])


def bind_mode(d):
    mode = d.pick("floor", "trunc")
    return lambda x, number: torch.div(x, number, rounding_mode=mode)


def glu(d):
    index, x = d.operand(lambda x: any(size % 2 == 0 for size in x.shape))
    if index is None:
        return None
    return Step(bind(F.glu, d.pick(*(i for i, size in enumerate(x.shape) if size % 2 == 0))), [index])


def comparison(d):
    index, x = d.operand()
    function = d.pick(*COMPARISONS)
    if d.chance(0.5):
        return Step(bind(function, d.number(-1, 1)), [index])
    return Step(function, [index, d.like(x.shape)])


def logic(d):
    index, x = d.operand(dtype=torch.bool)
    if index is None:
        return comparison(d)
    if d.chance(0.2):
        return Step(d.pick(torch.logical_not, torch.bitwise_not), [index])
    function = d.pick(torch.logical_and, torch.logical_or, torch.logical_xor, torch.bitwise_and, torch.bitwise_or,
                      torch.bitwise_xor)  # fmt: skip
    return Step(function, [index, d.random.choice(d.found(lambda y: y.shape == x.shape, torch.bool))])


def where(d):
    condition, mask = d.operand(dtype=torch.bool)
    if condition is None:
        return comparison(d)
    first = d.like(mask.shape, constant=0)
    if d.chance(0.3):
        return Step(bind(torch.masked_fill, d.number(-2, 2)), [first, condition], layer=False)
    if d.chance(0.2):
        number = d.number(-2, 2)
        return Step(lambda c, x: torch.where(c, x, number), [condition, first])
    return Step(torch.where, [condition, first, d.like(mask.shape)])


def mask(d):
    index, x = d.operand()
    if d.chance(0.5) and x.dim() > 1:
        return Step(bind(d.pick(torch.triu, torch.tril), d.whole(-2, 2)), [index])
    kept = Constant((d.uniform(0, 1, *x.shape[-1:]) < 0.5,))
    return Step(bind(torch.masked_fill, d.number(-2, 2)), [index, kept])
