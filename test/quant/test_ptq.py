# SPDX-License-Identifier: Apache-2.0
"""Our own post-training quantisation against PyTorch's float results, and against ExecuTorch's
quantiser with the same calibration samples."""

import itertools
import json
import os

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from ..cli.failing import fails, start
from ..common import FAMILIES, SAMPLES, TARGETS
from ..tester.compare import sqnr_db
from ..tester.function import Function
from ..tester.stages import Source, flat_outputs, net
from .calibration import Quantised, calibration_arrays, warnings_of

MARGIN_DB = 0.5  # below ExecuTorch's flow


class Residual(nn.Module):
    """Two residual blocks, the second with a projection, and a classifier."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8))
        self.first = nn.Sequential(
            nn.Conv2d(8, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(),
            nn.Conv2d(8, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8),
        )  # fmt: skip
        self.second = nn.Conv2d(8, 16, 3, 2, 1)
        self.shortcut = nn.Conv2d(8, 16, 1, 2)
        self.classifier = nn.Linear(16, 10)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        x = torch.relu(x + self.first(x))
        x = torch.relu(self.second(x) + self.shortcut(x))
        return self.classifier(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))


class Standardised(nn.Module):
    """A series by its own mean and deviation, and a ratio of its two halves."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(24, 16), nn.Linear(24, 16)

    def forward(self, x):
        deviation = torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + 0.1)
        x = (x - x.mean(-1, keepdim=True)) / deviation
        return self.first(x[..., :24]) / (self.second(x[..., 24:]).abs() + 0.5)


class Likeness(nn.Module):
    """How like two inputs are. (ExecuTorch's quantisers give it another shape.)"""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(24, 16)

    def forward(self, x, y):
        return torch.cosine_similarity(self.layer(x), self.layer(y), dim=-1)


SOURCES = {
    name: net(name)
    for name in ("add", "sub", "linear", "cat", "dscnn", "leaky_relu", "lstm", "two_outputs")
} | {"residual": Source("ptq/residual", Residual, ((1, 3, 16, 16),))} | {
    "standardised": Source("ptq/standardised", Standardised, ((4, 8, 48),))
}
# Which ExecuTorch's quantiser takes seconds for.
LARGE = {name: net(name) for name in ("encoder", "vit")}


def stacked_tests(program):
    """Test inputs by name, and the outputs one after another, of a workspace program."""
    inputs = {
        name: np.stack([sample[i] for sample in program.inputs])
        for i, name in enumerate(program.input_names)
    }
    return inputs, [np.stack(values) for values in zip(*program.outputs)]


@pytest.mark.INT
@pytest.mark.parametrize(
    "name, quantizer",
    [*itertools.product(SOURCES, ("arm", "ethosu")), ("encoder", "ethosu")],
)
def test_as_near_to_float_as_executorch(workspace, tmp_path, name, quantizer):
    source = (SOURCES | LARGE)[name]
    program = workspace.program(source)
    inputs, exact = stacked_tests(program)
    theirs = sqnr_db(stacked_tests(workspace.program(source, quantizer))[1], exact)
    samples = calibration_arrays(source, program.input_names, SAMPLES)
    made = Quantised(program.path, tmp_path, **samples)
    ours = sqnr_db(made.run(**inputs), exact)
    assert ours >= theirs - MARGIN_DB, f"SQNR {ours:.1f} dB, ExecuTorch's {theirs:.1f} dB"


@pytest.mark.parametrize("name", ("linear", "cat", "dscnn", "two_outputs"))
def test_the_report_tells_the_sqnr_of_the_first_samples(workspace, tmp_path, name):
    source = SOURCES[name]
    program = workspace.program(source)
    inputs, exact = stacked_tests(program)
    made = Quantised(program.path, tmp_path, **inputs)
    assert made.report["calibration"]["samples"] == SAMPLES
    first = {key: values[:4] for key, values in inputs.items()}
    expected = sqnr_db(made.run(**first), [values[:4] for values in exact])
    assert made.report["calibration"]["sqnr_db"] == pytest.approx(expected, abs=0.05)


@pytest.mark.INT
@pytest.mark.parametrize("name", ("linear", "cat", "lstm", "residual", "encoder"))
def test_16_bit_activations_are_nearer(workspace, tmp_path, name):
    source = (SOURCES | LARGE)[name]
    program = workspace.program(source)
    inputs, exact = stacked_tests(program)
    # Calibrated on the test inputs: nothing is cut off, so that the steps alone count.
    narrow = Quantised(program.path, tmp_path / "8", **inputs)
    flags = ("--precision", "int16x8")
    target = "TOSA-1.0+INT+int16"
    wide = Quantised(program.path, tmp_path / "16", *flags, target=target, **inputs)
    assert {value["dtype"] for value in wide.inputs + wide.outputs} == {"int16"}
    gain = sqnr_db(wide.run(**inputs), exact) - sqnr_db(narrow.run(**inputs), exact)
    assert gain >= 1, f"{gain:.1f} dB"


def export(module, example, path):
    torch.export.save(torch.export.export(module.eval(), example), path)
    return path


class Twice(nn.Module):
    def forward(self, x):
        return x + x


def test_codes_of_an_add_calibrated_on_ones(tmp_path):
    """ET#16244: the range [0, 1] and [0, 2] in 255 steps."""
    program = export(Twice(), (torch.ones(1, 1, 1, 1),), tmp_path / "add.pt2")
    add = Quantised(program, tmp_path / "made", x=np.ones((2, 1, 1, 1, 1), np.float32))
    (x,), (y,) = add.inputs, add.outputs
    assert (np.float32(x["scale"]), x["zero_point"]) == (np.float32(1 / 255), -128)
    assert (np.float32(y["scale"]), y["zero_point"]) == (np.float32(2 / 255), -128)
    assert add.codes(x=np.full((1, 1, 1, 1), 1.0))[0].item() == 127
    half = np.full((1, 1, 1, 1), (1 + 128) / 255)  # the input code 1
    assert add.codes(x=half)[0].item() == 1
    assert add.run(x=half)[0].item() == pytest.approx(1.0118, abs=5e-5)


class ConvCat(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.limit = nn.Conv2d(2, 2, 1, bias=False), nn.Hardtanh(0, 6)

    def forward(self, x):
        return torch.cat([x, self.limit(self.conv(x))], dim=3)


@pytest.fixture
def conv_cat(tmp_path):
    torch.manual_seed(0)
    module = ConvCat()
    return module, export(module, (torch.zeros(1, 2, 1, 1),), tmp_path / "conv_cat.pt2")


def test_all_zero_calibration_warns_and_gives_sane_scales(conv_cat, tmp_path):
    """ET#20486."""
    module, program = conv_cat
    zeros = np.zeros((4, 1, 2, 1, 1), np.float32)
    made = Quantised(program, tmp_path / "zeros", x=zeros)
    assert made.warnings == ["W0003", "W0004"]
    for name in ('"x"', "conv2d", "hardtanh", "cat"):
        assert name in made.stderr
    for value in made.inputs + made.outputs:
        assert 1e-3 < value["scale"] < 1
    # Within the range that zeros leave, it computes what the network does.
    x = np.linspace(-0.9, 0.9, 2, dtype=np.float32).reshape(1, 2, 1, 1)
    (expected,) = flat_outputs(module, (torch.from_numpy(x),))
    step = made.outputs[0]["scale"]
    assert np.abs(made.run(x=x)[0] - expected).max() <= 2 * step


@pytest.mark.U55
def test_all_of_a_conv_and_a_cat_is_on_the_npu(conv_cat, tmp_path):
    _, program = conv_cat
    generator = np.random.default_rng(0)
    np.savez(tmp_path / "s.npz", x=generator.standard_normal((8, 1, 2, 1, 1), np.float32))
    flags = ("--target", "ethos-u55-128", "--calibrate", "s.npz", "-o", "x.pte", "--json")
    result = start("compile", program, *flags, folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "dequantize_per_channel" not in result.stdout
    assert not warnings_of(result)
    report = json.loads(result.stdout)
    assert len(report["delegates"]) == 1
    on_cpu = {node["op"].split(".")[1] for node in report["nodes"] if node["device"] == "cpu"}
    assert on_cpu == {"quantize_per_tensor", "dequantize_per_tensor"}


WHOLE = [
    *itertools.product(SOURCES, FAMILIES, ("int8",)),
    *itertools.product(LARGE, TARGETS, ("int8", "int16x8")),
]


@pytest.mark.parametrize("name, family, precision", WHOLE)
def test_networks_are_whole_on_the_npu(workspace, folder, name, family, precision):
    source = (SOURCES | LARGE)[name]
    program = workspace.program(source)
    np.savez(folder / "s.npz", **calibration_arrays(source, program.input_names, 4))
    flags = ("--target", TARGETS[family], "--calibrate=s.npz", f"--precision={precision}", "--json")
    result = start("compile", program.path, *flags, "-o", "x.pte", folder=folder)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert len(report["delegates"]) == 1
    assert not warnings_of(result)
    borders = len(report["io"]["inputs"]) + len(report["io"]["outputs"])
    assert sum(node["device"] == "cpu" for node in report["nodes"]) == borders


@pytest.fixture
def classifier(workspace):
    return workspace.program(net("dscnn")).path


def images(count, seed=1):
    return np.random.default_rng(seed).standard_normal((count, 1, 1, 49, 10), np.float32)


@pytest.mark.parametrize(
    "samples, expected",
    [
        (images(1), ["W0003"]),
        (np.repeat(images(1), 3, axis=0), ["W0003"]),
        (np.ones((3, 1, 1, 49, 10), np.float32), ["W0003", "W0004"]),
        (images(3), []),
    ],
    ids=("one", "equal", "ones", "several"),
)
def test_poor_samples_are_warned_of(classifier, tmp_path, samples, expected):
    """ET#7568."""
    assert Quantised(classifier, tmp_path / "made", x=samples).warnings == expected


ONE_SAMPLE = "warning[W0003]: samples.npz has one sample for calibration"
EQUAL_SAMPLES = "warning[W0003]: the 3 calibration samples of samples.npz are equal"
ONE_NUMBER = 'warning[W0004]: all elements are one number in all calibration samples: input "x"'


@pytest.mark.parametrize(
    "samples, expected",
    [(None, [ONE_SAMPLE]), (np.ones((3, 1, 3, 224, 224), np.float32), [EQUAL_SAMPLES, ONE_NUMBER])],
    ids=("one", "ones"),
)
def test_mobilenetv2_warns_of_poor_samples(workspace, tmp_path, samples, expected):
    """ET#7568."""
    mv2 = workspace.program(net("mv2"))
    arrays = {"x": mv2.inputs[0][0][None] if samples is None else samples}
    stderr = Quantised(mv2.path, tmp_path / "made", **arrays).stderr
    warned = [line for line in stderr.splitlines() if line.startswith("warning")]
    assert warned == expected


@pytest.mark.U55
def test_mobilenetv2_without_samples_warns_that_all_of_it_is_on_the_cpu(workspace, folder):
    flags = ("--target", TARGETS["u55"], "-o", "x.pte")
    result = start("compile", workspace.program(net("mv2")).path, *flags, folder=folder)
    assert result.returncode == 0
    assert result.stderr == (
        "warning[W0001]: 100 of 100 nodes run on the CPU\n"
        "  hint: quantise the program: give samples of its inputs with --calibrate\n"
    )


def test_mobilenetv2_tells_pictures_apart(workspace, tmp_path):
    mv2 = workspace.program(net("mv2"))
    samples = calibration_arrays(net("mv2"), mv2.input_names, 100)
    made = Quantised(mv2.path, tmp_path / "made", **samples)
    assert not made.warnings
    outputs = [outputs[0][0] for outputs in mv2.outputs]
    first = outputs[0].argmax()
    # The picture that is most clearly of another class.
    other = max(range(len(outputs)), key=lambda i: outputs[i].max() - outputs[i][first])
    (results,) = made.codes(x=np.stack([mv2.inputs[0][0], mv2.inputs[other][0]]))
    classes = [result.argmax() for result in results]
    assert classes == [first, outputs[other].argmax()] and classes[0] != classes[1]


def test_without_samples_the_hint_is_to_calibrate(classifier, folder):
    flags = ("--target=tosa-int", "-o", "x.tosa")
    said = fails("compile", classifier, *flags, code="E0309", folder=folder)
    assert "--calibrate" in said


def test_a_composite_with_a_quotient_is_one_delegate(workspace, tmp_path):
    source = Source("ptq/likeness", Likeness, ((4, 24), (4, 24)))
    program = workspace.program(source)
    inputs, exact = stacked_tests(program)
    made = Quantised(program.path, tmp_path, "--precision=int16x8", **inputs)
    assert sqnr_db(made.run(**inputs), exact) > 45
    for target in TARGETS.values():
        flags = ("--target", target, "--calibrate=samples.npz", "-o", "x.pte", "--json")
        report = json.loads(start("compile", program.path, *flags, folder=made.folder).stdout)
        assert len(report["delegates"]) == 1
        assert not [node["op"] for node in report["nodes"] if "reason" in node]


# What core ATen writes out, some of it with comparisons and selections, which Ethos-U55 lacks.
DECOMPOSED = {
    "attention": lambda: Function(lambda x: functional.scaled_dot_product_attention(x, x, x, is_causal=True)),
    "layer_norm": lambda: nn.LayerNorm(8),
    "group_norm": lambda: nn.GroupNorm(2, 4),
    "rms_norm": lambda: nn.RMSNorm(8),
    "batch_norm": lambda: nn.BatchNorm2d(4),
    "prelu": lambda: nn.PReLU(4),
    "softplus": lambda: nn.Softplus(2, 5),
    "mish": nn.Mish,
    "celu": lambda: nn.CELU(0.7),
    "elu": nn.ELU,
    "silu": nn.SiLU,
    "hardswish": nn.Hardswish,
    "log_softmax": lambda: nn.LogSoftmax(-1),
    "std": lambda: Function(lambda x: x.std(-1)),
    "bilinear": lambda: nn.Upsample(scale_factor=2, mode="bilinear"),
    "reflect": lambda: nn.Sequential(nn.ReflectionPad2d(2), nn.Conv2d(4, 4, 3)),
}


@pytest.mark.parametrize("name", DECOMPOSED)
def test_core_aten_is_one_delegate_too(workspace, tmp_path, name):
    source = Source(f"ptq/core_{name}", DECOMPOSED[name], ((2, 4, 6, 8),))
    program = workspace.program(source, core=True)
    inputs, exact = stacked_tests(program)
    made = Quantised(program.path, tmp_path, **inputs)
    assert sqnr_db(made.run(**inputs), exact) > 25
    for target in (TARGETS["u55"], TARGETS["u85"]):
        flags = ("--target", target, "--calibrate=samples.npz", "-o", "x.pte", "--strict", "--json")
        result = start("compile", program.path, *flags, folder=made.folder)
        assert result.returncode == 0, result.stderr
        assert len(json.loads(result.stdout)["delegates"]) == 1


def test_what_is_refused_is_the_operator_and_not_the_quantisation_around_it(workspace, folder):
    source = Source("ptq/fmod", lambda: Function(lambda x, y: torch.fmod(x, y) + 1), ((2, 8), (2, 8)))
    program = workspace.program(source)
    np.savez(folder / "samples.npz", **calibration_arrays(source, program.input_names, 4))
    flags = ("--target=tosa-int", "--calibrate=samples.npz", "-o", "x.tosa")
    said = fails("compile", program.path, *flags, code="E0309", folder=folder)
    assert "error[E0309]: aten.fmod" in said


def test_different_inputs_give_different_results(classifier, tmp_path):
    made = Quantised(classifier, tmp_path / "made", x=images(100))
    results = made.codes(x=images(2, seed=7))[0]
    assert (results[0] != results[1]).any()


def test_a_folder_is_read_in_the_order_of_names(classifier, tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    samples = images(6)
    one = Quantised(classifier, whole, x=samples)
    parts.mkdir()
    np.savez(parts / "b.npz", x=samples[4:])
    np.savez(parts / "a.npz", x=samples[:4])
    (parts / "notes.txt").write_text("no samples")
    flags = ("--target=tosa-int", "--calibrate", parts, "-o", "y.tosa")
    assert start("compile", classifier, *flags, folder=whole).returncode == 0
    assert (whole / "y.tosa").read_bytes() == one.path.read_bytes()
    # The limit counts over all files; and arrays without names count by position.
    limited = (*flags, "--calibrate-limit", "5")
    assert start("compile", classifier, *limited, folder=whole).returncode == 0
    np.savez(whole / "five.npz", samples[:5])
    flags = ("--target=tosa-int", "--calibrate", "five.npz", "-o", "z.tosa")
    assert start("compile", classifier, *flags, folder=whole).returncode == 0
    assert (whole / "y.tosa").read_bytes() == (whole / "z.tosa").read_bytes()


@pytest.mark.parametrize("observer", ("minmax", "moving-average", "mse"))
def test_the_number_of_cores_changes_nothing(classifier, tmp_path, observer):
    made = Quantised(classifier, tmp_path / "made", "--observer", observer, x=images(9))
    core = min(os.sched_getaffinity(0))
    flags = ("--target=tosa-int", "--calibrate=samples.npz", f"--observer={observer}")
    result = start(
        "compile", classifier, *flags, "-o", "one.tosa", folder=made.folder,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert (made.folder / "one.tosa").read_bytes() == made.path.read_bytes()


def with_one(number, samples):
    samples[2, 0, 0, 3, 3] = number
    return samples


@pytest.mark.parametrize(
    "arrays, words",
    [
        ({"y": images(2), "x ": images(2), "z": images(0)}, None),
        ({"x": images(2)[:, 0]}, "shape [2,1,49,10]"),
        ({"x": images(2)[0]}, "[samples,1,1,49,10] is needed"),
        ({"x": images(2).astype(np.float64)}, "type float64; float32 is needed"),
        ({"x": images(2).astype(np.float64)}, "array.astype(numpy.float32)"),
        ({"x": with_one(np.nan, images(4))}, "NaN in sample 2"),
        ({"x": with_one(np.inf, images(4))}, "an infinity, or a number above 1e30, in sample 2"),
        ({"x": np.sign(images(4)) * np.float32(1e38)}, "above 1e30, in sample 0"),
        ({"x": images(0)}, "no samples"),
        ({}, "no array"),
    ],
    ids=("by position", "rank", "one sample", "dtype", "dtype's hint", "nan", "infinity", "great", "empty", "nothing"),
)
def test_bad_samples_are_one_error(classifier, folder, arrays, words):
    np.savez(folder / "s.npz", **arrays)
    flags = ("--target=tosa-int", "--calibrate", "s.npz", "-o", "x.tosa")
    if words is None:  # no name is the program's, so the first array counts
        assert start("compile", classifier, *flags, folder=folder).returncode == 0
        return
    said = fails("compile", classifier, *flags, code="E0310", folder=folder)
    assert words in said and "s.npz" in said


def test_an_array_that_no_input_takes_is_told(classifier, tmp_path):
    made = Quantised(classifier, tmp_path / "made", x=images(4), labels=np.zeros(4))
    assert "W0008" in made.warnings and "samples.npz: labels" in made.stderr


class Steep(nn.Module):
    """Between two linear layers, which quantise well, `inside`."""

    def __init__(self, inside):
        super().__init__()
        self.first, self.last, self.inside = nn.Linear(8, 8), nn.Linear(8, 8), inside

    def forward(self, x):
        return self.last(self.inside(torch.relu(self.first(x))))


@pytest.mark.parametrize(
    "inside, outliers, flags, notes, hint",
    [
        # The logarithm of what lies far below one step of the exponential is lost.
        (lambda h: torch.log(torch.exp(8 * h) + 1), {}, (), ("log (",), "int16x8"),
        (lambda h: h, {15: 1e4}, (), ('input "x"',), "int16x8"),
        (lambda h: h, {1: 100}, ("--observer", "moving-average"), (), "--observer minmax"),
        (lambda h: h, {}, (), None, None),
        (lambda h: torch.softmax(h.masked_fill(h == 0, -torch.inf), 1), {}, (), None, None),
    ],
    ids=("function", "outlier", "cut off", "good", "mask"),
)
def test_a_poor_result_is_told_with_the_layers_that_lose(
    tmp_path, inside, outliers, flags, notes, hint
):
    torch.manual_seed(0)
    program = export(Steep(inside), (torch.randn(1, 8),), tmp_path / "steep.pt2")
    x = images(16)[:, :, 0, 0, :8]
    for sample, factor in outliers.items():
        x[sample] *= factor
    made = Quantised(program, tmp_path / "made", *flags, target="TOSA-1.0+INT+int16", x=x)
    if notes is None:
        assert not made.warnings
        return
    assert made.warnings == ["W0009"]
    sqnr = made.report["calibration"]["sqnr_db"]
    assert sqnr < 10 and f"SQNR {sqnr:.1f} dB" in made.stderr and hint in made.stderr
    told = [line.split("note: ")[1] for line in made.stderr.splitlines() if "note: " in line]
    assert max(1, len(notes)) <= len(told) <= 3
    for line, start_of_line in zip(told, notes):
        assert line.startswith(start_of_line)


class Training(nn.Module):
    def forward(self, x):
        return torch.dropout(x, 0.5, True)


class Places(nn.Module):
    def forward(self, x):
        return torch.nn.functional.max_pool2d(x, 2, return_indices=True)


class Spectrum(nn.Module):
    def forward(self, x):
        return torch.fft.rfft(x).abs()


class Trained(nn.Module):
    def forward(self, x):
        return torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127) + x


@pytest.mark.parametrize("target", ("tosa-fp", TARGETS["u55"]))
@pytest.mark.parametrize(
    "module, hint",
    ((Training, "model.eval()"), (Places, "explain"), (Spectrum, "complex numbers"),
     (Trained, ""), (lambda: nn.Linear(4, 4).double(), ".float()")),
)  # fmt: skip
def test_samples_are_not_asked_for_where_they_do_not_help(folder, tmp_path, module, hint, target):
    x = torch.zeros(1, 3, 4, 4, dtype=torch.float64 if hint == ".float()" else torch.float32)
    program = export(module(), (x,), tmp_path / "x.pt2")
    suffix = "tosa" if target == "tosa-fp" else "pte"
    result = start("compile", program, "--target", target, "-o", f"x.{suffix}", folder=folder)
    assert "--calibrate" not in result.stderr
    assert result.returncode or target != "tosa-fp"  # which has no CPU to leave it to
    if result.returncode:
        assert hint in result.stderr


class Masked(nn.Module):
    def forward(self, x, mask):
        return torch.softmax(x + mask, -1)


def test_a_mask_may_be_infinite(tmp_path):
    x, mask = torch.randn(8, 1, 8), torch.zeros(8, 1, 8)
    mask[:, :, 5:] = -torch.inf
    program = export(Masked(), (x[0], mask[0]), tmp_path / "masked.pt2")
    made = Quantised(program, tmp_path / "made", x=x.numpy(), mask=mask.numpy())
    assert "W0004" not in made.warnings
    codes = made.inputs[1]
    assert codes["scale"] > 0


def test_int64_beyond_int32_is_one_error(tmp_path, folder):
    tokens = torch.zeros(1, 8, dtype=torch.int64)
    program = export(TokenMask(), (tokens,), tmp_path / "tokens.pt2")
    np.savez(folder / "s.npz", tok=np.full((3, 1, 8), 2**40))
    flags = (f"--target={TARGETS['u85']}", "--calibrate", "s.npz", "-o", "x.pte")
    said = fails("compile", program, *flags, code="E0310", folder=folder)
    assert "an integer that int32 does not hold in sample 0" in said


def test_inputs_need_an_array_each(workspace, folder):
    program = workspace.program(net("sub")).path
    a = np.zeros((3, 1, 4, 8, 8), np.float32)
    flags = ("--target=tosa-int", "--calibrate", "s.npz", "-o", "x.tosa")
    np.savez(folder / "s.npz", a=a)
    said = fails("compile", program, *flags, code="E0310", folder=folder)
    assert 'no array for input "b", only a' in said
    np.savez(folder / "s.npz", a=a, b=a[:2])
    said = fails("compile", program, *flags, code="E0310", folder=folder)
    assert '"b" has 2 samples, "a" has 3' in said


@pytest.mark.parametrize(
    "flags, code",
    [
        (("--target=tosa-fp", "--calibrate=s.npz"), "E0104"),
        (("--target=tosa-int", "--calibrate=s.npz", "--observer=best"), "E0104"),
        (("--target=tosa-int", "--calibrate=s.npz", "--precision=int4"), "E0104"),
        (("--target=tosa-int", "--calibrate=s.npz", "--calibrate-limit=-1"), "E0104"),
        (("--target=TOSA-1.0+INT", "--calibrate=s.npz", "--precision=int16x8"), "E0104"),
        (("--target=tosa-int", "--calibrate=missing.npz"), "E0101"),
        (("--target=tosa-int", "--calibrate=empty"), "E0310"),
        (("--target=tosa-int", "--calibrate=text.npz"), "E0103"),
    ],
)
def test_bad_flags_are_one_error(classifier, folder, flags, code):
    np.savez(folder / "s.npz", x=images(2))
    (folder / "empty").mkdir()
    (folder / "text.npz").write_text("no archive")
    fails("compile", classifier, *flags, "-o", "x.tosa", code=code, folder=folder)


def test_a_quantised_program_is_not_calibrated(workspace, folder):
    program = workspace.program(net("dscnn"), "arm").path
    np.savez(folder / "s.npz", x=images(2))
    flags = ("--target=tosa-int", "--calibrate=s.npz", "-o", "x.tosa")
    fails("compile", program, *flags, code="E0104", folder=folder)


class Sorted(nn.Module):
    def forward(self, x):
        return torch.sort(x)[0] + 1


def test_a_node_that_cannot_be_computed_is_named(folder, tmp_path):
    program = export(Sorted(), (torch.zeros(1, 8),), tmp_path / "sorted.pt2")
    np.savez(folder / "s.npz", x=np.zeros((2, 1, 8), np.float32))
    flags = ("--target=tosa-int", "--calibrate=s.npz", "-o", "x.tosa")
    said = fails("compile", program, *flags, code="E0309", folder=folder)
    assert "aten.topk" in said and "return torch.sort(x)[0] + 1" in said  # what sort calls


class Arc(nn.Module):
    """TOSA has no acos of floats; the second layer has no values to be calibrated by."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 4)

    def forward(self, x):
        x = self.first(x)
        return self.last(torch.acos(x / 9)), x


def test_what_calibration_cannot_compute_stays_float(folder, tmp_path):
    program = export(Arc(), (torch.zeros(1, 8),), tmp_path / "arc.pt2")
    np.savez(folder / "s.npz", x=np.random.default_rng(0).standard_normal((20, 1, 8), np.float32))
    flags = ("--target", TARGETS["u85"], "--calibrate", "s.npz", "-o", "x.pte", "--json")
    result = start("compile", program, *flags, folder=folder)
    assert result.returncode == 0, result.stderr
    assert "warning[W0007]" in result.stderr and "return self.last(torch.acos(x / 9)), x" in result.stderr
    report = json.loads(result.stdout)
    nodes = {(node["op"], node["device"]) for node in report["nodes"]}
    assert {("aten.linear.default", "npu"), ("aten.linear.default", "cpu")} <= nodes
    assert report["calibration"]["sqnr_db"] > 30  # of the output that is known


class TokenMask(nn.Module):
    """Attention over tokens, of which those that are 0 are left out: a mask of int64."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.last = nn.Linear(16, 3)

    def forward(self, tok):
        return self.last(self.layer(self.embed(tok), src_key_padding_mask=tok == 0).mean(1))


class Counting(nn.Module):
    """The count of what is not 0, and places that are computed."""

    def __init__(self):
        super().__init__()
        self.embed, self.last = nn.Embedding(64, 16), nn.Linear(16, 3)

    def forward(self, tok):
        count = (tok != 0).float().sum(1, keepdim=True)
        return self.last(self.embed(tok + 1).sum(1) * count)


class Hashed(Counting):
    """Its products are more than int32 holds."""

    def forward(self, tok):
        return self.last(self.embed(tok * 1000003 * 1000003 % 64))


def compile_tokens(module, folder, count=16):
    tokens = torch.randint(0, 50, (count, 1, 8), generator=torch.Generator().manual_seed(3))
    torch.manual_seed(0)
    program = export(module(), (tokens[0],), folder / "tokens.pt2")
    np.savez(folder / "s.npz", tok=tokens.numpy())
    flags = ("--target", TARGETS["u85"], "--calibrate", "s.npz", "-o", "x.pte", "--json")
    result = start("compile", program, *flags, folder=folder)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout), result.stderr


@pytest.mark.parametrize("module, on_cpu", ((TokenMask, {"eq"}), (Counting, {"ne", "_to_copy", "to", "add"})))  # fmt: skip
def test_calibration_computes_int64(tmp_path, module, on_cpu):
    """Only the arithmetic on int64 itself stays on the CPU."""
    report, said = compile_tokens(module, tmp_path)
    assert "W0007" not in said
    left = {n["op"].split(".")[1] for n in report["nodes"] if n["device"] == "cpu" and n.get("reason")}
    assert left <= on_cpu, left
    assert "linear" in {n["op"].split(".")[1] for n in report["nodes"] if n["device"] == "npu"}
    assert report["calibration"]["sqnr_db"] > 30


def test_int64_that_int32_does_not_hold_is_not_calibrated_by(tmp_path):
    report, said = compile_tokens(Hashed, tmp_path)
    assert "calibration cannot compute aten.mul" in said
    assert all(n["device"] == "cpu" for n in report["nodes"])


@pytest.mark.parametrize("family", ("u55", "u85"))
@pytest.mark.parametrize("depth, device", ((65536, "npu"), (65537, "cpu")))
def test_linear_layers_have_as_many_inputs_as_vela_takes(folder, tmp_path, depth, device, family):
    program = export(nn.Linear(depth, 2), (torch.zeros(1, depth),), tmp_path / "long.pt2")
    np.savez(folder / "s.npz", input=np.random.default_rng(0).standard_normal((3, 1, depth), np.float32))
    flags = ("--target", TARGETS[family], "--calibrate", "s.npz", "-o", "x.pte", "--json")
    result = start("compile", program, *flags, folder=folder)
    assert result.returncode == 0 and "W0002" not in result.stderr, result.stderr
    devices = {n["device"] for n in json.loads(result.stdout)["nodes"] if n["op"] == "aten.linear.default"}
    assert devices == {device}


class Log(torch.nn.Module):
    def forward(self, x):
        return torch.log(torch.relu(x))


def test_infinite_values_are_counted_beside_the_sqnr(folder, tmp_path):
    """The smallest values have code 0, whose logarithm, on the CPU, is infinite."""
    program = export(Log(), (torch.ones(1, 8),), tmp_path / "log.pt2")
    small = [1e-7, 1e-6, 2e-7, 0.5, 1, 1.5, 1.75, 2]
    np.savez(folder / "s.npz", x=np.array([[small]] * 3, np.float32))
    flags = ("--target=ethos-u55-128", "--calibrate=s.npz", "--precision=int16x8", "-o", "x.pte")
    result = start("compile", program, *flags, "--json", folder=folder)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["calibration"]["infinite"] == 3 * 3
    result = start("compile", program, *flags, folder=folder)
    assert ", but for 9 values infinite or no number in one of both" in result.stdout


def test_a_node_that_the_npu_lacks_stays_float_with_its_reason(workspace, folder):
    program = workspace.program(net("three_parts")).path
    samples = calibration_arrays(net("three_parts"), ["x"], 4)
    np.savez(folder / "s.npz", **samples)
    flags = ("--target=ethos-u55-128", "--calibrate=s.npz")
    result = start("explain", program, *flags, folder=folder)
    assert result.returncode == 0, result.stderr
    assert "stride 4 is above 3, the limit of Ethos-U55" in result.stdout
    assert "in 2 partitions" in result.stdout


@pytest.mark.parametrize("observer", ("minmax", "moving-average", "mse"))
def test_observers(classifier, tmp_path, observer):
    """PyTorch's own observers give the input's parameters; the MSE of ours is less."""
    from torch.ao.quantization import MinMaxObserver, MovingAverageMinMaxObserver

    samples = images(8)
    made = Quantised(classifier, tmp_path / "made", "--observer", observer, x=samples)
    (x,) = made.inputs
    if observer == "mse":

        def error(scale, zero_point):
            codes = np.clip(np.rint(samples / scale) + zero_point, -128, 127)
            return np.square((codes - zero_point) * scale - samples).mean()

        plain = Quantised(classifier, tmp_path / "plain", x=samples).inputs[0]
        errors = [error(value["scale"], value["zero_point"]) for value in (x, plain)]
        assert errors[0] <= errors[1]
        return
    kind = MinMaxObserver if observer == "minmax" else MovingAverageMinMaxObserver
    theirs = kind(dtype=torch.qint8, qscheme=torch.per_tensor_affine)
    for sample in samples:
        theirs(torch.from_numpy(sample))
    scale, zero_point = theirs.calculate_qparams()
    assert x["scale"] == pytest.approx(scale.item(), rel=1e-6)
    assert x["zero_point"] == zero_point.item()
