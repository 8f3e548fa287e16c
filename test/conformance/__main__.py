# SPDX-License-Identifier: Apache-2.0
"""TOSA's conformance tests, run by `tosaic run`.

    ./dev conformance [--profile int|fp] [--sign positive|negative|both] [--every N] [OPERATOR ...]

Positive INT tests must give the bits of tosa_reference_model; FP tests, and RESCALE with inexact
rounding, must be compliant by TOSA's own runner and verifier. A negative test's program must be refused by the reader or the
verifier with its code. Tests are generated once and kept. A table by operator is printed, then
each test that failed.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

import numpy as np
import tosa_reference_model

from ..common import ROOT, tosaic_binary
from .generate import PACKAGES, TOOLS, VERSION, find_tests, generate

CACHE = pathlib.Path(os.environ.get("TOSAIC_CONFORMANCE", ROOT / "build" / "conformance"))
BITS = {1: np.uint8, 2: np.uint16}  # how `tosaic run` takes types that NumPy lacks


def plain(array):
    """An array of a type that NumPy has: bf16 and 8-bit floats as their bits."""
    if array.dtype.kind == "V" or array.dtype.name not in np.sctypeDict:
        return array.view(BITS[array.dtype.itemsize])
    return array


def load(path):
    import ml_dtypes  # noqa: F401  (NumPy then knows the types' names)

    return np.load(path)


def batch(entries, scratch):
    """What `tosaic run --batch` says of each program."""
    listing = scratch / "batch.json"
    listing.write_text(json.dumps(entries), encoding="utf-8")
    result = subprocess.run([tosaic_binary(), "run", "--batch", listing], capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"error: tosaic run --batch failed:\n{result.stderr}")
    return json.loads(result.stdout)


def execute(tests, scratch):
    """(verdict, results or None) of each test; verdicts are those of run_batch."""
    entries = []
    for index, test in enumerate(tests):
        arrays = {name: plain(load(test.folder / file)) for name, file in test.inputs.items()}
        source = scratch / f"in_{index}.npz"
        np.savez(source, **arrays)
        entries.append(
            {"program": str(test.tosa), "input": str(source), "output": str(scratch / f"out_{index}.npz")}
        )
    outcomes = []
    for entry, verdict in zip(entries, batch(entries, scratch), strict=True):
        arrays = None
        if verdict["ok"]:
            with np.load(entry["output"]) as file:
                arrays = {name: file[name] for name in file.files}
        outcomes.append((verdict, arrays))
    return outcomes


def reference_files(test, scratch, *flags):
    """{output: .npy} by the reference model's executable, which knows every type."""
    files = {name: f"ref_{i}.npy" for i, name in enumerate(test.outputs)}
    command = [
        TOOLS / "tosa_reference_model", f"--test_desc={test.folder / 'desc.json'}",
        f"--operator_fbs={TOOLS / 'tosa.fbs'}", f"--output_dir={scratch}",
        f"--ofm_file={','.join(files.values())}", *flags,
    ]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode not in (0, 1):  # 1: unpredictable
        raise RuntimeError(f"tosa_reference_model: exit status {result.returncode}\n{result.stderr[-500:]}")
    return {name: scratch / file for name, file in files.items()}


def reference_arrays(test, scratch):
    """{output: array} of an INT test."""
    types = " ".join(map(str, test.details.get("output_types", [])))
    if test.inputs and "48" not in types and "int4" not in types:
        try:
            return binding(test)
        except (ValueError, RuntimeError):  # a type that the binding cannot take
            pass
    return {name: load(path) for name, path in reference_files(test, scratch).items()}


def binding(test, **modes):
    """{output: array} by the reference model's Python binding."""
    inputs = [np.ascontiguousarray(load(test.folder / file)) for file in test.inputs.values()]
    arrays, _ = tosa_reference_model.run(test.tosa.read_bytes(), inputs, **modes)
    return dict(zip(test.outputs, arrays, strict=True))


def judge_integers(test, arrays, scratch):
    """Why results are wrong; None when every bit is right."""
    for name, expected in reference_arrays(test, scratch).items():
        actual = arrays[name]
        expected = plain(np.asarray(expected))
        if expected.dtype != actual.dtype:
            expected = expected.astype(actual.dtype)
        if expected.size != actual.size:
            return f"{name}: {actual.shape}, expected {expected.shape}"
        wrong = int((expected.reshape(-1) != actual.reshape(-1)).sum())
        if wrong:
            return f"{name}: {wrong} of {actual.size} elements are wrong"
    return None


def run_official(tests, scratch):
    """Yields (test, None or why it failed), by TOSA's own runner and verifier (see sut.py)."""
    if not tests:
        return
    listing, report = scratch / "tests.txt", scratch / "report.xml"
    listing.write_text("\n".join(str(test.folder) for test in tests), encoding="utf-8")
    command = [
        pathlib.Path(sys.executable).with_name("tosa_verif_run_tests"), "-T", listing, "-j", "2",
        "--ref-model-path", TOOLS / "tosa_reference_model",
        "--generate-lib-path", PACKAGES / "tosa_reference_model" / "libtosa_reference_generate_lib.so",
        "--verify-path", TOOLS / "tosa_verify", "--schema-path", TOOLS / "tosa.fbs",
        "--flatc-path", TOOLS / "flatc", "-s", "test.conformance.sut", "--xunit-file", report,
    ]  # fmt: skip
    subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    verdicts = {}
    for case in ElementTree.parse(report).iter("testcase"):
        failure = case.find("failure")
        verdicts[pathlib.Path(case.get("name")).name] = None if failure is None else " ".join((failure.text or failure.get("message") or "failed").split())[:200]
    for test in tests:
        yield test, verdicts.get(test.name, "the runner says nothing of it")


def run_positive(tests, profile, scratch):
    """Yields (test, None or why it failed)."""
    official = [t for t in tests if profile == "fp" or "RESCALE_INEXACT" in t.modes().values()]
    yield from run_official(official, scratch)
    tests = [t for t in tests if t not in official]
    for test, (verdict, arrays) in zip(tests, execute(tests, scratch), strict=True):
        if verdict["ok"]:
            yield test, judge_integers(test, arrays, scratch)
        else:
            yield test, f"{verdict['code']}: {verdict['message']}"


def run_negative(tests, scratch):
    entries = [{"program": str(test.tosa)} for test in tests]
    for test, verdict in zip(tests, batch(entries, scratch), strict=True):
        accepted = verdict["ok"] or verdict["code"].startswith("E0001")
        yield test, f"accepted; the rule is {test.rule}" if accepted else None


def choose(tests, every):
    """Each `every`-th test of an operator and mode, the first always."""
    seen = collections.Counter()
    chosen = []
    for test in tests:
        key = (test.operator, *test.modes().values(), test.rule)
        if seen[key] % every == 0:
            chosen.append(test)
        seen[key] += 1
    return chosen


@contextlib.contextmanager
def quiet():
    """Keeps the reference model's warnings, which it prints for each file, off the terminal."""
    sys.stdout.flush()
    kept = os.dup(1), os.dup(2)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        for number, descriptor in zip((1, 2), kept, strict=True):
            os.dup2(descriptor, number)
            os.close(descriptor)


def main():
    parser = argparse.ArgumentParser(prog="./dev conformance", description=__doc__.split("\n\n")[0])
    parser.add_argument("operators", nargs="*", help="in lower case, as the generator names them")
    parser.add_argument("--profile", choices=("int", "fp"), default="int")
    parser.add_argument("--sign", choices=("positive", "negative", "both"), default="both")
    parser.add_argument("--every", type=int, default=1, help="each N-th test of an operator and mode")
    parser.add_argument("--tests", type=pathlib.Path, help="a folder of tests to run instead")
    options = parser.parse_args()
    signs = ("positive", "negative") if options.sign == "both" else (options.sign,)
    table = collections.defaultdict(collections.Counter)
    failures = []
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        for sign in signs:
            folder = options.tests or generate(options.profile, sign, options.operators, CACHE)
            tests = choose(find_tests(folder), options.every)
            for begin in range(0, len(tests), 200):  # of bounded size on disk
                part = tests[begin : begin + 200]
                run = run_negative(part, scratch) if sign == "negative" else run_positive(part, options.profile, scratch)
                with quiet():
                    outcomes = list(run)
                for test, why in outcomes:
                    table[test.operator][sign, why is None] += 1
                    if why:
                        failures.append(f"{test.name}: {why}")
    total = collections.Counter()
    print(f"TOSA {VERSION}, {options.profile.upper()}, every {options.every}")
    for operator in sorted(table):
        row = table[operator]
        total.update(row)
        cells = [f"{row[s, True]}/{row[s, True] + row[s, False]}" for s in signs]
        print(f"{operator:<24}" + "".join(f"{cell:>12}" for cell in cells))
    print(*failures, sep="\n")
    passed = sum(count for (_, ok), count in total.items() if ok)
    print(f"{passed} passed, {len(failures)} failed")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
