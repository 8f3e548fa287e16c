# SPDX-License-Identifier: Apache-2.0
"""TOSA's conformance tests, run by `tosaic run`.

    ./dev conformance [--profile int|fp|both] [--sign positive|negative|both] [--every N] [OPERATOR ...]

Positive INT tests must give the bits of tosa_reference_model; FP tests, and RESCALE with inexact
rounding, must be compliant by TOSA's verify library. A negative test's program must be refused by
the verifier with a rule's code. Tests and reference results are made once and kept. A table by
operator is printed, then each test that failed.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import sys
import tempfile

from ..common import ROOT
from .execute import execute, read_only
from .generate import PROFILES, VERSION, all_operators, find_tests, generate
from .judge import judge

CACHE = pathlib.Path(os.environ.get("TOSAIC_CONFORMANCE", ROOT / "build" / "conformance"))
COLUMNS = {("int", False): "INT", ("int", True): "INT refused", ("fp", False): "FP", ("fp", True): "FP refused"}
# The tests of wrong lists name tensors that the file does not hold, which is no matter of a graph.
WRONG_LISTS = ("WrongInputList", "WrongOutputList")
RULES = {False: "V", True: ("V", "E0307")}
CHUNK = 50  # tests of one process: bounds what it leaves on disk


def run_positive(tests, scratch):
    """Yields (code or None, why it failed or None)."""
    for test, (verdict, arrays) in zip(tests, execute(tests, scratch), strict=True):
        if verdict["ok"]:
            yield None, judge(test, arrays)
        else:
            yield verdict["code"], f"{verdict['code']}: {verdict['message']}"


def run_negative(tests, scratch):
    """Yields (code, why it failed or None)."""
    for test, verdict in zip(tests, read_only(tests, scratch), strict=True):
        if verdict["ok"]:
            yield None, f"accepted; the rule is {test.rule}"
        elif not verdict["code"].startswith(RULES[test.rule in WRONG_LISTS]):
            yield verdict["code"], f"no rule's code: {verdict['code']}: {verdict['message']}"
        else:
            yield verdict["code"], None


def run_chunk(tests):
    """[(test, code, why)] of tests of one sign."""
    run = run_negative if tests[0].negative else run_positive
    with tempfile.TemporaryDirectory() as name:
        outcomes = list(run(tests, pathlib.Path(name)))
    return [(test, *outcome) for test, outcome in zip(tests, outcomes, strict=True)]


def choose(tests, every):
    """Each `every`-th test of an operator, mode, type and rule, the first always."""
    seen = collections.Counter()
    chosen = []
    for test in tests:
        types = test.details.get("output_types", [])
        key = (test.operator, *test.modes().values(), *map(str, types), test.rule)
        if seen[key] % every == 0:
            chosen.append(test)
        seen[key] += 1
    return chosen


def chunks(profile, operator, options):
    """Lists of tests of one sign."""
    tests = find_tests(generate(profile, operator, CACHE))
    for negative in (False, True):
        if options.sign == ("positive" if negative else "negative"):
            continue
        chosen = choose([test for test in tests if test.negative == negative], options.every)
        for begin in range(0, len(chosen), CHUNK):
            yield chosen[begin : begin + CHUNK]


def silence():
    """Keeps what native libraries print of each file off the terminal."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def run_all(options, profiles):
    """Yields (profile, test, code, why); one process generates while others run and judge."""
    with concurrent.futures.ProcessPoolExecutor(options.jobs, initializer=silence) as pool:
        futures = [
            (profile, pool.submit(run_chunk, tests))
            for profile in profiles
            for operator in options.operators or all_operators()
            for tests in chunks(profile, operator, options)
        ]
        for profile, future in futures:
            for outcome in future.result():
                yield profile, *outcome


def table_rows(counts, columns):
    """Markdown rows: operator, then passed/all of each column."""
    total = collections.Counter()
    yield "| operator | " + " | ".join(COLUMNS[column] for column in columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for operator in sorted(counts):
        total.update(counts[operator])
        yield row(operator, counts[operator], columns)
    yield row("all", total, columns)


def row(name, counts, columns):
    cells = []
    for column in columns:
        passed, failed = counts[column, True], counts[column, False]
        cells.append(f"{passed}/{passed + failed}" if passed + failed else "")
    return f"| {name} | " + " | ".join(cells) + " |"


def parse():
    parser = argparse.ArgumentParser(prog="./dev conformance", description=__doc__.split("\n\n")[0])
    parser.add_argument("operators", nargs="*", help="in lower case, as the generator names them")
    parser.add_argument("--profile", choices=(*PROFILES, "both"), default="int")
    parser.add_argument("--sign", choices=("positive", "negative", "both"), default="both")
    parser.add_argument("--every", type=int, default=1, help="each N-th test of an operator, mode and type")
    parser.add_argument("--codes", action="store_true", help="also say which codes each rule got")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="default: one per core")
    options = parser.parse_args()
    for operator in options.operators:
        if operator not in all_operators():
            parser.error(f"there is no operator {operator}; there are {', '.join(all_operators())}")
    return options


def main():
    options = parse()
    profiles = list(PROFILES) if options.profile == "both" else [options.profile]
    counts = collections.defaultdict(collections.Counter)
    codes = collections.defaultdict(collections.Counter)
    failures = []
    for profile, test, code, why in run_all(options, profiles):
        counts[test.operator][(profile, test.negative), why is None] += 1
        if test.negative:
            codes[test.rule][code] += 1
        if why:
            failures.append(f"{test.name}: {why}")
    columns = [c for c in COLUMNS if any(row[c, ok] for row in counts.values() for ok in (True, False))]
    print(f"TOSA {VERSION}, every {options.every}")
    print(*table_rows(counts, columns), sep="\n")
    if options.codes:
        for rule, found in sorted(codes.items()):
            print(f"{rule}: {', '.join(f'{code} {count}' for code, count in found.most_common())}")
    print(*failures, sep="\n")
    passed = sum(row[key] for row in counts.values() for key in row if key[1])
    print(f"{passed} passed, {len(failures)} failed")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
