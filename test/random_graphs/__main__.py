# SPDX-License-Identifier: Apache-2.0
"""Random ATen graphs through the rows, the partitioner and Vela.

    ./dev random-graphs [--target TARGET] [--seed N] [--count N] [--keep FOLDER]
    ./dev random-graphs --check [--seed N] [--count N]
    ./dev random-graphs --reduce SEED.NUMBER --target TARGET

Whatever the rows accept, Vela must take: a refusal, a crash, a time-out, or any other error of
`tosaic compile` is a failure, named by its seed. Programs that are refused by name before that, since an
operator has no kernel for the CPU or no float form to calibrate in, are counted. With --check each operator's
numbers are compared with PyTorch's instead (check.py).
"""

import argparse
import collections
import concurrent.futures
import multiprocessing
import os
import pathlib
import sys
import tempfile

from ..common import TARGETS
from .trial import Trial, check_one, rows, try_one


def parse():
    parser = argparse.ArgumentParser(prog="./dev random-graphs", description=__doc__.split("\n\n")[0])
    parser.add_argument("--target", help="an accelerator; default: one of each family")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first graph")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the programs, which are not made again")
    parser.add_argument("--check", action="store_true", help="compare the numbers with PyTorch's")
    parser.add_argument("--reduce", metavar="SEED.NUMBER", help="the fewest operators of a graph that still fail")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="default: one per core")
    return parser.parse_args()


def run(seeds, targets, folder, jobs=1, trial=try_one):
    """{target: {seed: Outcome}}"""
    outcomes = {target: {} for target in targets}
    fresh = multiprocessing.get_context("spawn")  # a fork of a process whose torch has threads may wait for ever
    with concurrent.futures.ProcessPoolExecutor(jobs, fresh) as pool:
        for seed, results in zip(seeds, pool.map(trial, seeds, [targets] * len(seeds), [folder] * len(seeds))):
            for target, outcome in zip(targets, results, strict=True):
                outcomes[target][seed] = outcome
                if outcome.error:
                    print(f"{target}: graph {seed}: {outcome.error}", flush=True)
    return outcomes


def report(target, outcomes):
    """Lines on what ran where."""
    drawn, on_npu, on_cpu = collections.Counter(), collections.Counter(), collections.Counter()
    for outcome in outcomes.values():
        drawn.update(outcome.drawn)
        on_npu.update(outcome.on_npu)
        on_cpu.update(outcome.on_cpu)
    served = {row: schemas & set(on_npu) for row, schemas in rows().items()}
    taken = sum(bool(found) for found in served.values())
    failed = sum(bool(outcome.error) for outcome in outcomes.values())
    wanting = collections.Counter(outcome.wanting for outcome in outcomes.values() if outcome.wanting)
    yield (
        f"{target}: {len(outcomes)} graphs, {failed} failed, {sum(wanting.values())} not compiled "
        f"{dict(wanting)}; {sum(on_npu.values())} operators on the NPU in "
        f"{sum(outcome.delegates for outcome in outcomes.values())} partitions, of {taken} rows; "
        f"{sum(on_cpu.values())} on the CPU"
    )
    others = [row for row, found in sorted(served.items()) if not found]
    met = [row for row in others if rows()[row] & set(drawn)]
    yield "  never on the NPU under their own name: " + ", ".join(met)
    yield "  not drawn: " + ", ".join(row for row in others if row not in met)


def main():
    options = parse()
    targets = [options.target] if options.target else list(TARGETS.values())
    if options.reduce:
        return Trial(options.reduce, targets[0]).reduce()
    seeds = [f"{options.seed}.{number}" for number in range(options.first, options.first + options.count)]
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        if options.check:
            outcomes = run(seeds, ["numbers"], folder, options.jobs, check_one)["numbers"].values()
            checked, wrong = ([o for o in outcomes if test(o.numbers)] for test in (lambda n: n is not None, bool))
            print(f"numbers: {len(outcomes)} graphs, {len(checked)} checked, {len(wrong)} wrong")
            return int(bool(wrong))
        outcomes = run(seeds, targets, folder, options.jobs)
    for target in targets:
        print(*report(target, outcomes[target]), sep="\n")
    return int(any(outcome.error for by_seed in outcomes.values() for outcome in by_seed.values()))


if __name__ == "__main__":
    sys.exit(main())
