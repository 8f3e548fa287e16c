# SPDX-License-Identifier: Apache-2.0
"""Whether a target's rows decide as Vela does, over TOSA's conformance tests.

    ./dev partition TARGET [--tests FOLDER] [--verdicts FILE] [--every N]

The target is one accelerator, or "all". Each positive INT test that `./dev conformance` has made is
judged by Vela, in a process of its own, and by `tosaic explain --batch`, all in one. What the rows
accept and Vela does not take is an error; of what Vela takes at most one in a hundred may be
refused, besides the deliberate exclusions, which are listed with their reasons. A program that Vela
does not end in 20 s of processor time is not taken. --verdicts takes what Vela said before: lines
of target (a family or an accelerator), operator, test, dtype and verdict, separated by tabs.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from ..common import ROOT, tosaic_binary
from ..tester.vela_judge import ACCELERATORS, TAKEN, TIME_LIMIT, judge
from .generate import find_tests

MAX_REFUSED = 0.01
# Refusals that are meant, besides R0014, which gives its own reason.
NO_OPERATION = "no operation: never a partition"
CONTROL_FLOW = "control flow, which no program from PyTorch has"
PIECES = "what Vela makes of thousands of operations: it takes from some seconds to minutes, and megabytes of commands"


def explain(programs, target, scratch):
    """{key: reason or None} by the target's rows."""
    listing = scratch / "explain.json"
    listing.write_text(json.dumps([{"program": str(path)} for path in programs.values()]))
    command = [tosaic_binary(), "explain", "--batch", listing, "--target", target]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"error: tosaic explain --batch failed:\n{result.stderr}")
    return dict(zip(programs, map(first_reason, json.loads(result.stdout)), strict=True))


def first_reason(entry):
    if not entry["ok"]:
        return entry["code"], entry["message"]
    if entry["reasons"]:
        return entry["reasons"][0]["code"], entry["reasons"][0]["message"]
    return None if entry["nodes"] else (NO_OPERATION, NO_OPERATION)


def excluded(code, message):
    """Why a refusal is meant; None when it is not."""
    if re.search(r"\btosa\.(cond_if|while_loop)\b", message):
        return CONTROL_FLOW
    if "Vela may crash" in message:
        return message
    if "Vela would split it into" in message:
        return PIECES
    return message if code in ("R0014", NO_OPERATION) else None


def read_verdicts(path, target):
    """{test: verdict} of a file's lines for the target or its family."""
    verdicts = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, _, test, _, said = (line + "\t" * 4).split("\t")[:5]
        if name == target or name == target.split("-")[1]:
            verdicts[test] = TAKEN if said.startswith("OK") else TIME_LIMIT if "SIGNAL" in said else said
    return verdicts


class Comparison:
    """What rows and Vela say of the same tests."""

    def __init__(self, target):
        self.target = target
        self.both = collections.Counter()  # (taken by Vela, accepted)
        self.accepted = {}  # and not taken: {test: Vela's verdict}
        self.refused = {}  # and taken: {test: reason}
        self.exclusions = collections.Counter()

    def add(self, test, verdict, reason):
        taken, accepted = verdict == TAKEN, reason is None
        if taken and not accepted and (why := excluded(*reason)):
            self.exclusions[why] += 1
            return
        self.both[taken, accepted] += 1
        if accepted and not taken:
            self.accepted[test] = verdict
        if taken and not accepted:
            self.refused[test] = ": ".join(reason)

    def holds(self):
        taken = self.both[True, True] + self.both[True, False]
        return not self.accepted and len(self.refused) <= MAX_REFUSED * max(taken, 100)

    def report(self):
        yes, no = self.both[True, True], self.both[False, False]
        excluded = sum(self.exclusions.values())
        lines = [
            f"{self.target}: {yes} tests taken by both, {no} refused by both, "
            f"{len(self.accepted)} accepted wrongly, {len(self.refused)} refused needlessly, {excluded} excluded"
        ]
        lines += [f"  accepted wrongly: {test}: {verdict}" for test, verdict in sorted(self.accepted.items())]
        lines += [f"  refused needlessly: {test}: {reason}" for test, reason in sorted(self.refused.items())]
        lines += [f"  {count} excluded: {why}" for why, count in self.exclusions.most_common()]
        return "\n".join(lines)


def compare(programs, target, scratch, verdicts=None):
    """`programs`: {test: path of the .tosa}. Tests without a given verdict are left out."""
    reasons = explain(programs, target, scratch)
    if verdicts is None:
        verdicts = judge(programs, target)
    comparison = Comparison(target)
    for test in programs:
        if test in verdicts:
            comparison.add(test, verdicts[test], reasons[test])
    return comparison


def int_tests(folder):
    """{name: path of the .tosa} of positive INT tests."""
    programs = {}
    for test in find_tests(folder):
        integers = "tosa-pro-int" in test.desc["test_requirements"]["profiles_supported"]
        if integers and not test.desc["expected_failure"]:
            programs[test.name] = test.tosa
    return programs


def main():
    parser = argparse.ArgumentParser(prog="./dev partition", description=__doc__.split("\n\n")[0])
    parser.add_argument("target", choices=(*ACCELERATORS, "all"))
    cache = pathlib.Path(os.environ.get("TOSAIC_CONFORMANCE", ROOT / "build" / "conformance"))
    parser.add_argument("--tests", type=pathlib.Path, default=cache, help="a folder of tests")
    parser.add_argument("--verdicts", type=pathlib.Path, help="what Vela said")
    parser.add_argument("--every", type=int, default=1, help="each N-th test")
    options = parser.parse_args()
    programs = dict(list(int_tests(options.tests).items())[:: options.every])
    if not programs:
        parser.error(f"{options.tests} holds no INT tests: ./dev conformance makes them")
    failed = 0
    for target in ACCELERATORS if options.target == "all" else [options.target]:
        known = read_verdicts(options.verdicts, target) if options.verdicts else None
        with tempfile.TemporaryDirectory() as scratch:
            comparison = compare(programs, target, pathlib.Path(scratch), known)
        print(comparison.report(), flush=True)
        failed += not comparison.holds()
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
