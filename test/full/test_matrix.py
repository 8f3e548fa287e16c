# SPDX-License-Identifier: Apache-2.0
"""Every network for every accelerator, from every quantisation: `./dev ci --full`, or pytest with `--full`.

On one accelerator of each family the .pte is run against PyTorch. The others of the family must
come to the same TOSA in each partition and the same kernels on the CPU, so that the numbers are
those; what Vela makes of them is its own, so all go through it.
"""

import dataclasses
import functools

import numpy as np
import pytest

from ..common import SAMPLES
from ..models import NETS
from ..quant.calibration import calibration_arrays
from ..tester.checks import BORDER_KERNELS
from ..tester.compare import sqnr_db
from ..tester.native import compile_program
from ..tester.pte import Pte
from ..tester.stages import net

ACCELERATORS = {
    "u55": ("ethos-u55-128", "ethos-u55-32", "ethos-u55-64", "ethos-u55-256"),
    "u65": ("ethos-u65-256", "ethos-u65-512"),
    "u85": ("ethos-u85-256", "ethos-u85-128", "ethos-u85-512", "ethos-u85-1024", "ethos-u85-2048"),
}
RUNS = 2  # samples run per network and family
# Least SQNR in dB: of PT2E programs against their fake-quantised graph in float64 with biases as the
# accumulator holds them (from Arm's quantiser every code is equal), of ours against the float
# network, whose quantisation itself costs that.
MIN_SQNR_DB = {"arm": np.inf, "xnnpack": 25.0, "own": 10.0}
# Some 20 dB lie between this graph of XNNPACK's and its float network, and one code that differs is as
# many elsewhere twelve blocks later: the program may be no farther from the float network than that.
LIKE_ITS_GRAPH, MARGIN_DB = {("deit", "xnnpack")}, 0.5
# Delegates other than one: XNNPACK's quantiser leaves a subtraction in float; see test_three_parts.py.
DELEGATES = {
    ("sub", "xnnpack"): {"u55": 0, "u65": 0, "u85": 0},
    ("three_parts", "arm"): {"u55": 2, "u65": 2},
    ("three_parts", "xnnpack"): {"u55": 2, "u65": 2},
    ("three_parts", "own"): {"u55": 2, "u65": 2},
}


@dataclasses.dataclass(frozen=True)
class Compiled:
    """What the tool made for one accelerator."""

    program: object
    pte: Pte
    partitions: list

    @property
    def kernels(self):
        return sorted(set(self.pte.operators) - BORDER_KERNELS)

    def tosa(self):
        return [path.read_bytes() for path in self.partitions]


def compiled(workspace, name, quantisation, target):
    source, own = net(name), quantisation == "own"
    program = workspace.program(
        source, None if own else quantisation, integer_biases=quantisation == "xnnpack", exact=not own
    )
    folder = workspace.scratch("full", name, quantisation, target)
    flags = ()
    if own:
        samples = folder / "samples.npz"
        np.savez(samples, **calibration_arrays(source, program.input_names, SAMPLES))
        flags = ("--calibrate", samples)
    output, dump = folder / "model.pte", folder / "dump"
    report = compile_program(program.path, target, output, "--dump", dump, *flags)
    made = Compiled(program, Pte(output.read_bytes()), sorted(dump.rglob("*.tosa")))
    assert len(report["delegates"]) == len(made.partitions) == len(made.pte.delegates)
    assert set(made.pte.delegates) <= {"EthosUBackend"}
    return made


@pytest.fixture(scope="module")
def first(workspace):
    """What the first accelerator of a family gets; made once."""
    return functools.cache(functools.partial(compiled, workspace))


def cases(families):
    for name in NETS:
        for quantisation in MIN_SQNR_DB:
            for family, target in families:
                label = f"{name}-{quantisation}-{target}"
                yield pytest.param(name, quantisation, family, target, id=label)


@pytest.mark.INT
@pytest.mark.parametrize(
    "name, quantisation, family, target",
    cases([(family, targets[0]) for family, targets in ACCELERATORS.items()]),
)
def test_network_computes_what_pytorch_computes(first, workspace, name, quantisation, family, target):
    made = first(name, quantisation, target)
    actual, expected = [], []
    for sample in range(RUNS):
        actual += made.pte.run(made.program.inputs[sample], made.partitions)
        expected += made.program.outputs[sample]
    sqnr = sqnr_db(actual, expected)
    print(f"{sqnr:.1f} dB, {len(made.partitions)} delegates, on the CPU {made.kernels}")
    if (name, quantisation) in LIKE_ITS_GRAPH:
        exact = [array for sample in workspace.program(net(name)).outputs[:RUNS] for array in sample]
        assert sqnr_db(actual, exact) >= sqnr_db(expected, exact) - MARGIN_DB
    else:
        assert sqnr >= MIN_SQNR_DB[quantisation]
    wanted = DELEGATES.get((name, quantisation), {}).get(family, 1)
    assert len(made.partitions) == wanted, f"on the CPU: {made.kernels}"


@pytest.mark.INT
@pytest.mark.parametrize(
    "name, quantisation, family, target",
    cases([(f, target) for f, targets in ACCELERATORS.items() for target in targets[1:]]),
)
def test_network_is_the_same_on_all_of_a_family(
    first, workspace, name, quantisation, family, target
):
    other = first(name, quantisation, ACCELERATORS[family][0])
    made = compiled(workspace, name, quantisation, target)
    assert made.kernels == other.kernels
    assert made.tosa() == other.tosa()
