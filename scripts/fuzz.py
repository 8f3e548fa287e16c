# SPDX-License-Identifier: Apache-2.0
"""Gives random bytes to the readers (bin/tosaic_fuzz), one process per target."""
import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess

from scripts import project

TARGETS = ("tosa", "pt2", "npz", "vela_npz", "ini", "tir", "payload", "pte")
PLACE = project.ROOT / "build" / "fuzz"
# An input has 1 MiB at most. What is allocated in one piece for it may have these, in MiB: deflate packs
# 1 to 1032.
MOST_MIB = {"npz": 1200, "vela_npz": 1200}
MOST_MIB_ELSE = 64


def make_seeds():
    """Files made by the tool, PyTorch, numpy and Vela; kept for the next time."""
    seeds = PLACE / "seeds"
    if not all((seeds / target).is_dir() for target in TARGETS) or (seeds / "scratch").exists():
        shutil.rmtree(seeds, ignore_errors=True)
        project.build("release", ["tosaic"])
        environment = project.test_environment(TOSAIC_TOOL=str(project.tool("release")))
        project.run([project.python(), "-m", "fuzz.make_seeds", seeds], env=environment)
    return seeds


def keep_input(target, current):
    """Copies the input at work when the process died; its path."""
    data = current.read_bytes()
    data = data[8 : 8 + int.from_bytes(data[:8], "little")]
    found = PLACE / "found" / f"{target}-{hashlib.sha256(data).hexdigest()[:12]}"
    found.parent.mkdir(parents=True, exist_ok=True)
    found.write_bytes(data)
    return found


def call(preset, target, arguments):
    options = f"max_allocation_size_mb={MOST_MIB.get(target, MOST_MIB_ELSE)}:allocator_may_return_null=0"
    environment = {**os.environ, "TOSAIC_FUZZ_TARGET": target, "ASAN_OPTIONS": options,
                   "UBSAN_OPTIONS": "print_stacktrace=1"}  # fmt: skip
    command = [project.build_dir(preset) / "bin" / "tosaic_fuzz", *arguments]
    return subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True,
                          errors="replace", stdin=subprocess.DEVNULL)


def run_target(preset, target, seconds, seed):
    """(passed, text) of one target."""
    seeds = sorted(path for path in (PLACE / "seeds" / target).iterdir() if path.is_file())
    current = PLACE / f"current-{target}"
    done = call(preset, target, ["--seconds", seconds, "--seed", seed, "--current", current, *seeds])
    if done.returncode == 0:
        return True, f"{target}: {done.stdout.strip()}"
    found = keep_input(target, current)
    report = re.sub(r"^.*?(?===\d+==|runtime error)", "", done.stderr, count=1, flags=re.DOTALL)
    return False, (f"{target}: exit status {done.returncode}\n{report[:4000]}\n"
                   f"{target}: again by ./dev fuzz {target} --input {found.relative_to(project.ROOT)}")


def run(preset, targets, seconds, seed):
    """Runs the targets, as many at once as there are cores; (passed, failed)."""
    make_seeds()
    passed = 0
    with concurrent.futures.ThreadPoolExecutor(project.JOBS) as pool:
        runs = [pool.submit(run_target, preset, target, seconds, seed) for target in targets]
        for done in concurrent.futures.as_completed(runs):
            good, text = done.result()
            passed += good
            print(text, flush=True)
    return passed, len(targets) - passed


def run_inputs(preset, target, paths):
    """Runs files alone; the status of the process."""
    done = call(preset, target, [path.resolve() for path in paths])
    print(done.stdout + done.stderr)
    return done.returncode
