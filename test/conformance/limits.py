# SPDX-License-Identifier: Apache-2.0
"""Random TOSA programs of one operation near the limits of the NPUs, as text IR."""

import math
import random

SIZES = (1, 1, 2, 3, 5, 8, 17, 64, 127, 128, 300, 66000)


def row(sizes):
    return ",".join(map(str, sizes))


def numbers(values):
    return ", ".join(map(str, values))


def program(inputs, body, result):
    """`inputs`: types of %x0, %x1, …; `result`: type and operation of %y."""
    arguments = ", ".join(f'%x{i}: {kind} "x{i}"' for i, kind in enumerate(inputs))
    kind, operation = result
    lines = [f"tosa graph @main({arguments}) {{", *(f"  {line}" for line in body), f'  %y: {kind} "y" = tosa.{operation}']
    return "\n".join([*lines, "  return %y", "}", ""])


def zeros(*dtypes):
    return [f"%z{i} = const {dtype}[1] splat(0)" for i, dtype in enumerate(dtypes)]


class Limits:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *choices):
        return self.random.choice(choices)

    def shape(self, most=200_000):
        while True:
            sizes = [self.pick(*SIZES) for _ in range(self.random.randint(1, 6))]
            if math.prod(sizes) <= most:
                return sizes

    def axis(self, sizes):
        return self.random.randrange(len(sizes))

    def window(self, kernels, strides, dilations, pads):
        """Geometry of both axes such that the steps fit the image exactly; None when nothing is left."""
        kernel, stride, dilation = ([self.pick(*choices) for _ in range(2)] for choices in (kernels, strides, dilations))
        pad = self.pick(*pads)
        out = [self.pick(1, 1, 2, 3, 5, 9) for _ in range(2)]
        image = [
            (out[a] - 1) * stride[a] + (kernel[a] - 1) * dilation[a] + 1 - pad[2 * a] - pad[2 * a + 1] for a in range(2)
        ]
        return (kernel, stride, dilation, pad, out, image) if min(image) > 0 else None

    def convolution(self):
        depthwise = self.pick(True, False)
        geometry = self.window(
            (1, 1, 2, 3, 4, 5, 7, 9, 70), (1, 1, 2, 3, 4, 5, 8), (1, 1, 1, 2, 3, 4, 8),
            ((0, 0, 0, 0),) * 4 + ((1, 1, 1, 1), (2, 1, 0, 3), (9, 9, 0, 0), (0, 0, 9, 0)),
        )  # fmt: skip
        if geometry is None:
            return None
        kernel, stride, dilation, pad, out, image = geometry
        n, c, m = self.pick(1, 1, 2, 3), self.pick(1, 1, 3, 4, 16), self.pick(1, 1, 2, 3)
        channels = c * m if depthwise else m
        weight = [*kernel, c, m] if depthwise else [m, *kernel, c]
        attrs = f"pad = [{numbers(pad)}], stride = [{numbers(stride)}], dilation = [{numbers(dilation)}]"
        name = "depthwise_conv2d" if depthwise else "conv2d"
        return self.accumulating(name, attrs, [n, *image, c], weight, [n, *out, channels])

    def accumulating(self, name, attrs, image, weight, out):
        """A convolution of int8 or int16, whose int48 result needs a RESCALE."""
        dtype, sum_type = self.pick(("i8", "i32"), ("i16", "i48"))
        body = [f"%w = const i8[{row(weight)}] splat(1)", f"%b = const {sum_type}[{out[-1]}] splat(1)"]
        body += zeros(dtype, "i8", sum_type)
        kind = f"{sum_type}[{row(out)}]"
        operation = f"{name}(%x0, %w, %b, %z0, %z1) {{{attrs}, local_bound = false, acc_type = {sum_type}}}"
        if dtype == "i8":
            return program([f"i8[{row(image)}]"], body, (kind, operation))
        body += ["%m = const i16[1] splat(16384)", "%s = const i8[1] splat(20)", f"%c: {kind} = tosa.{operation}"]
        modes = 'scale32 = false, rounding_mode = "single", per_channel = false'
        modes += ", input_unsigned = false, output_unsigned = false"
        rescale = f"rescale(%c, %m, %s, %z2, %z0) {{{modes}}}"
        return program([f"i16[{row(image)}]"], body, (f"i16[{row(out)}]", rescale))

    def transposed_convolution(self):
        kernel, stride = ([self.pick(*choices) for _ in range(2)] for choices in ((1, 2, 3, 4, 5), (1, 2, 3, 4)))
        image = [self.pick(1, 1, 2, 5, 9) for _ in range(2)]
        pad = [self.random.randint(1 - min(kernel[i // 2], 3), 2) for i in range(4)]
        out = [(image[a] - 1) * stride[a] + kernel[a] + pad[2 * a] + pad[2 * a + 1] for a in range(2)]
        if min(out) < 1:
            return None
        n, c, m = self.pick(1, 1, 2), self.pick(1, 3, 8), self.pick(1, 3, 8)
        attrs = f"out_pad = [{numbers(pad)}], stride = [{numbers(stride)}]"
        return self.accumulating("transpose_conv2d", attrs, [n, *image, c], [m, *kernel, c], [n, *out, m])

    def pooling(self):
        geometry = self.window(
            (1, 2, 3, 7, 8, 9, 20, 257), (1, 2, 3, 4, 9), (1,), ((0, 0, 0, 0),) * 3 + ((1, 1, 1, 1), (1, 0, 0, 0))
        )
        if geometry is None:
            return None
        kernel, stride, _, pad, out, image = geometry
        n, c, dtype = self.pick(1, 1, 2, 3), self.pick(1, 3, 17), self.pick("i8", "i16")
        if min(kernel) <= max(pad) or n * c * math.prod(image) > 1_000_000:
            return None
        attrs = f"kernel = [{numbers(kernel)}], stride = [{numbers(stride)}], pad = [{numbers(pad)}]"
        if self.pick(True, False):
            body, operation = [], f'max_pool2d(%x0) {{{attrs}, nan_mode = "propagate"}}'
        else:
            body, operation = zeros(dtype, dtype), f"avg_pool2d(%x0, %z0, %z1) {{{attrs}, acc_type = i32}}"
        return program([f"{dtype}[{row([n, *image, c])}]"], body, (f"{dtype}[{row([n, *out, c])}]", operation))

    def transpose(self):
        sizes, dtype = self.shape(), self.pick("i8", "i16", "i32")
        order = list(range(len(sizes)))
        self.random.shuffle(order)
        result = f"{dtype}[{row(sizes[i] for i in order)}]"
        return program([f"{dtype}[{row(sizes)}]"], [], (result, f"transpose(%x0) {{perms = [{numbers(order)}]}}"))

    def reverse(self):
        sizes, dtype = self.shape(), self.pick("i8", "i16")
        kind = f"{dtype}[{row(sizes)}]"
        return program([kind], [], (kind, f"reverse(%x0) {{axis = {self.axis(sizes)}}}"))

    def reduction(self):
        name, sizes = self.pick("reduce_sum", "reduce_max", "reduce_min"), self.shape()
        axis, dtype = self.axis(sizes), "i32" if name == "reduce_sum" else self.pick("i8", "i16", "i32")
        mode = "" if name == "reduce_sum" else ', nan_mode = "propagate"'
        result = f"{dtype}[{row([*sizes[:axis], 1, *sizes[axis + 1 :]])}]"
        return program([f"{dtype}[{row(sizes)}]"], [], (result, f"{name}(%x0) {{axis = {axis}{mode}}}"))

    def argmax(self):
        sizes, dtype = self.shape(), self.pick("i8", "i8", "i16")
        axis = self.pick(len(sizes) - 1, self.axis(sizes))
        operation = f'argmax(%x0) {{axis = {axis}, nan_mode = "propagate"}}'
        return program([f"{dtype}[{row(sizes)}]"], [], (f"i32[{row([*sizes[:axis], *sizes[axis + 1 :]])}]", operation))

    def elements(self):
        sizes = self.shape(60_000)
        sides = [[self.pick(size, size, 1) for size in sizes] for _ in range(2)]
        result = f"i32[{row(map(max, *sides))}]"
        return program([f"i32[{row(side)}]" for side in sides], [], (result, f"{self.pick('add', 'sub')}(%x0, %x1)"))

    def product(self):
        n, h, c, w = (self.pick(1, 2, 3, 16, 65, 300, 66000) for _ in range(4))
        if max(n * h * c, n * c * w, n * h * w) > 1_000_000:
            return None
        dtype, result = self.pick(("i8", "i32"), ("i8", "i32"), ("i16", "i48"))
        inputs = [f"{dtype}[{n},{h},{c}]", f"{dtype}[{n},{c},{w}]"]
        return program(inputs, zeros(dtype, dtype), (f"{result}[{n},{h},{w}]", "matmul(%x0, %x1, %z0, %z1)"))

    def copies(self):
        sizes = self.shape(5_000)
        times = [self.pick(1, 1, 2, 3, 17) for _ in sizes]
        result = [size * n for size, n in zip(sizes, times)]
        if math.prod(result) > 300_000:
            return None
        body = [f"%m = const shape[{len(times)}] [{numbers(times)}]"]
        return program([f"i8[{row(sizes)}]"], body, (f"i8[{row(result)}]", "tile(%x0, %m)"))

    def parts(self):
        sizes, dtype = self.shape(), self.pick("i8", "i16", "i32")
        axis, rank = self.axis(sizes), len(sizes)
        kind = f"{dtype}[{row(sizes)}]"
        if self.pick(True, False):
            doubled = [size * (1 + (i == axis)) for i, size in enumerate(sizes)]
            return program([kind] * 2, [], (f"{dtype}[{row(doubled)}]", f"concat(%x0, %x1) {{axis = {axis}}}"))
        part = [self.random.randint(1, size) for size in sizes]
        body = [f"%s = const shape[{rank}] [{numbers([0] * rank)}]", f"%e = const shape[{rank}] [{numbers(part)}]"]
        return program([kind], body, (f"{dtype}[{row(part)}]", "slice(%x0, %s, %e)"))

    def resize(self):
        k, other = self.pick(1, 2, 2, 4, 8, 16, 3), self.pick(0, 0, 1)
        centred = self.pick(True, False)
        n, h, w = self.pick(1, 1, 2), self.pick(2, 4, 5), self.pick(3, 4)
        scale = [2 * k, 2] * 2 if centred else [k, 1] * 2
        edge = k - 1 if centred else other
        out = [h * k, w * k] if centred else [(h - 1) * k + 1 + other, (w - 1) * k + 1 + other]
        if edge >= scale[0]:
            return None
        body = [
            f"%s = const shape[4] [{numbers(scale)}]",
            f"%o = const shape[2] [{numbers([-edge if centred else 0] * 2)}]",
            f"%b = const shape[2] [{edge}, {edge}]",
        ]
        dtype = self.pick("i8", "i16")
        result = f"{dtype}[{row([n, *out, 8])}]"
        return program([f"{dtype}[{row([n, h, w, 8])}]"], body, (result, 'resize(%x0, %s, %o, %b) {mode = "nearest"}'))


NO_KINDS = ("pick", "shape", "axis", "window", "accumulating")
KINDS = [name for name in vars(Limits) if name not in NO_KINDS and name[0] != "_"]


def programs(seed, count):
    """{name: text} with `count` programs of each kind."""
    limits, made = Limits(seed), {}
    for kind in KINDS:
        while sum(name.startswith(kind + " ") for name in made) < count:
            if text := getattr(limits, kind)():
                made[f"{kind} {seed}.{len(made)}"] = text
    return made
