# SPDX-License-Identifier: Apache-2.0
"""Runs bin/tosaic_tests in parallel shards and counts its cases."""
import concurrent.futures
import os
import re
import subprocess
import tempfile

from scripts import project

DEFINITION = re.compile(r"^(?:TYPED_)?TEST(_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)
RESULT = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] ([\w/.]+)", re.MULTILINE)
SECONDS_PER_SHARD = 1800


def binary(preset):
    return project.build_dir(preset) / "bin" / "tosaic_tests"


def list_tests(preset, gtest_filter="*"):
    """Full names of all cases that the filter selects."""
    listing = subprocess.run([binary(preset), "--gtest_list_tests", f"--gtest_filter={gtest_filter}"],
                             cwd=project.ROOT, capture_output=True, text=True)
    if listing.returncode:
        raise project.Failure(f"{binary(preset)} --gtest_list_tests failed:\n{listing.stderr}")
    names, suite = [], ""
    for line in listing.stdout.splitlines():
        name = line.split("#")[0].rstrip()
        if name.endswith(".") and not name.startswith(" "):
            suite = name
        elif name.startswith("  "):
            names.append(suite + name.strip())
    return names


def filter_of_files(paths):
    """gtest filter for the cases defined in test sources (parameterised ones in all instances)."""
    patterns = []
    for path in paths:
        for kind, suite, name in DEFINITION.findall((project.ROOT / path).read_text()):
            patterns += [f"*/{suite}.{name}/*", f"{suite}.{name}/*"] if kind == "_P" else [
                f"{suite}.{name}", f"{suite}/*.{name}"]
    return ":".join(patterns)


def select(names, expression):
    """Names for which a -k expression holds: words match as in pytest, with and, or, not, ( )."""
    tokens = re.findall(r"[()]|[^\s()]+", expression)
    words = [t for t in tokens if t not in ("and", "or", "not", "(", ")")]
    code = " ".join(t if t in ("and", "or", "not", "(", ")") else f"w[{words.index(t)}]" for t in tokens)
    try:
        compiled = compile(code, "-k", "eval")
        return [n for n in names
                if eval(compiled, {"__builtins__": {}}, {"w": [w.lower() in n.lower() for w in words]})]
    except SyntaxError:
        raise project.Failure(f"-k {expression}: expected words with and, or, not, ( )") from None


def run_shard(preset, index, total, flagfile, more_environment):
    environment = {**os.environ, **more_environment, "GTEST_TOTAL_SHARDS": str(total),
                   "GTEST_SHARD_INDEX": str(index), "GTEST_COLOR": "no"}
    command = [binary(preset), f"--gtest_flagfile={flagfile}"]
    try:
        done = subprocess.run(command, cwd=project.ROOT, env=environment, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS_PER_SHARD)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        return 1, (late.stdout or b"").decode(errors="replace") + f"\nno end after {SECONDS_PER_SHARD} s\n"


def failures_of(output):
    """The blocks of failed or unfinished cases in a shard's output."""
    blocks = re.split(r"^(?=\[ RUN )", output.split("[----------] Global test environment tear-down")[0],
                      flags=re.MULTILINE)
    bad = [b for b in blocks if b.startswith("[ RUN ") and not re.search(r"^\[ +OK ", b, re.MULTILINE)]
    return "".join(bad) or output


def run(preset, names, more_environment=None):
    """Runs the named cases; (passed, failed). One that is skipped, disabled or never ran has failed."""
    if not names:
        return 0, 0
    shards = min(len(names), project.JOBS)
    with tempfile.NamedTemporaryFile("w", suffix=".flags") as flags:
        flags.write("--gtest_filter=" + ":".join(names) + "\n")
        flags.flush()
        with concurrent.futures.ThreadPoolExecutor(shards) as pool:
            jobs = [pool.submit(run_shard, preset, index, shards, flags.name, more_environment or {})
                    for index in range(shards)]
            results = [job.result() for job in jobs]
    passed = set()
    for status, output in results:
        passed |= {name for kind, name in RESULT.findall(output) if kind == "OK"}
        if status:
            print(failures_of(output), flush=True)
    missing = sorted(set(names) - passed)
    for name in missing[:50]:
        print(f"not passed: {name}")
    # A shard may also fail after its last case (a leak, a static destructor).
    late = not missing and any(status for status, _ in results)
    return len(names) - len(missing), len(missing) + late
