# SPDX-License-Identifier: Apache-2.0
"""Runs bin/tosaic_tests in parallel shards and counts its cases."""
import concurrent.futures
import re
import subprocess
import tempfile

from scripts import project

DEFINITION = re.compile(r"^(?:TYPED_)?TEST(_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)
RESULT = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] ([\w/.]+)", re.MULTILINE)
BEGUN = re.compile(r"^\[ RUN +\] ([\w/.]+)", re.MULTILINE)
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


def run_process(preset, names, environment):
    """Runs cases in one process: (exit status, output)."""
    with tempfile.NamedTemporaryFile("w", suffix=".flags") as flags:
        flags.write("--gtest_filter=" + ":".join(names) + "\n")
        flags.flush()
        command = [binary(preset), f"--gtest_flagfile={flags.name}", "--gtest_color=no"]
        try:
            done = subprocess.run(command, cwd=project.ROOT, env=environment, text=True, errors="replace",
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=SECONDS_PER_SHARD)
            return done.returncode, done.stdout
        except subprocess.TimeoutExpired as late:
            text = (late.stdout or b"").decode(errors="replace")
            return 1, f"{text}\nno end after {SECONDS_PER_SHARD} s\n"


def run_shard(preset, names, environment):
    """Runs cases; after a crash the rest runs in a new process. (passed names, output of failures)."""
    passed, text = set(), ""
    while names:
        status, output = run_process(preset, names, environment)
        results = RESULT.findall(output)
        passed |= {name for kind, name in results if kind == "OK"}
        if status:
            text += failures_of(output)
        begun = [name for name in BEGUN.findall(output) if name not in {n for _, n in results}]
        done = {name for _, name in results} | set(begun)
        names = [name for name in names if name not in done] if begun else []
    return passed, text


def failures_of(output):
    """The blocks of failed or unfinished cases in the output of a process."""
    cases = output.split("[----------] Global test environment tear-down")[0]
    blocks = re.split(r"^(?=\[ RUN )", cases, flags=re.MULTILINE)
    bad = [b for b in blocks if b.startswith("[ RUN ") and not re.search(r"^\[ +OK ", b, re.MULTILINE)]
    return "".join(bad) or output


def run(preset, names, more_environment=None):
    """Runs the named cases; (passed, failed). One that is skipped, disabled or never ran has failed."""
    environment = project.test_environment(**(more_environment or {}))
    shares = [share for share in (names[i::project.JOBS] for i in range(project.JOBS)) if share]
    passed, texts = set(), []
    with concurrent.futures.ThreadPoolExecutor(project.JOBS) as pool:
        for share_passed, text in pool.map(lambda share: run_shard(preset, share, environment), shares):
            passed |= share_passed
            texts += [text] if text else []
    print(*texts, sep="\n", end="\n" if texts else "")
    missing = [name for name in names if name not in passed]
    for name in missing[:50]:
        print(f"not passed: {name}")
    # A process may also fail after its last case (a leak, a static destructor).
    return len(passed), len(missing) or int(bool(texts))
