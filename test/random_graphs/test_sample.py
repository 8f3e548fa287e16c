# SPDX-License-Identifier: Apache-2.0
"""What the rows and the partitioner give Vela of random graphs, it takes, and their operators compute what
PyTorch's do: samples of what `./dev random-graphs` tries by the thousand."""

import pytest

from ..common import TARGETS
from . import __main__ as command
from . import graphs
from .trial import check_one

COUNT = 60
CHECKED = 20


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    seeds = [f"7.{number}" for number in range(COUNT)]
    return command.run(seeds, list(TARGETS.values()), tmp_path_factory.mktemp("graphs"))


@pytest.mark.INT
@pytest.mark.parametrize("family", sorted(TARGETS))
def test_vela_takes_what_the_rows_accept(outcomes, family):
    results = outcomes[TARGETS[family]]
    assert not {seed: outcome.error for seed, outcome in results.items() if outcome.error}
    on_npu = sum(sum(outcome.on_npu.values()) for outcome in results.values())
    on_cpu = sum(sum(outcome.on_cpu.values()) for outcome in results.values())
    assert len(results) == COUNT and on_npu > 9 * COUNT and on_npu > 2 * on_cpu  # composites count by their calls
    assert sum(bool(outcome.wanting) for outcome in results.values()) <= COUNT // 10


@pytest.mark.INT
def test_operators_compute_what_pytorch_does(tmp_path):
    seeds = [f"8.{number}" for number in range(CHECKED)]
    outcomes = command.run(seeds, ["numbers"], tmp_path, trial=check_one)["numbers"]
    assert not {seed: outcome.error for seed, outcome in outcomes.items() if outcome.error}
    assert sum(outcome.numbers is not None for outcome in outcomes.values()) > 0.8 * CHECKED


def test_a_seed_gives_one_program():
    first, second = graphs.draw("3.1"), graphs.draw("3.1")
    assert [step.values() for step in first.steps] == [step.values() for step in second.steps]
    for index, value in first.values.items():
        assert value.equal(second.values[index])


def test_reduction_finds_the_operator_to_blame():
    drawing = graphs.draw("3.2")
    culprit = drawing.steps[len(drawing.steps) // 2]
    reduced = graphs.reduce(drawing, lambda steps: any(step is culprit for step in steps))
    assert any(step is culprit for step in reduced) and len(reduced) < len(drawing.steps)
