# SPDX-License-Identifier: Apache-2.0
"""Places and files of the project, and running commands: what the commands of ./dev share."""
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRESETS = ("release", "dev", "coverage")
JOBS = os.cpu_count() or 1


class Failure(Exception):
    """A message for the user; ./dev prints it and exits with 1."""


def build_dir(preset):
    return ROOT / "build" / preset


def tool(preset="release"):
    return build_dir(preset) / "bin" / "tosaic"


def files(*suffixes, under=()):
    """Paths relative to ROOT of files that git would track, by suffix (all without one)."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *under]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listing.returncode == 0:
        names = [pathlib.Path(name) for name in listing.stdout.split("\0") if name]
    else:  # a source archive
        tops = [ROOT / top for top in under] or [ROOT]
        names = [path.relative_to(ROOT) for top in tops for path in sorted(top.rglob("*"))]
        names = [name for name in names if not {"build", ".venv", ".git", "__pycache__"} & set(name.parts)]
    return [n for n in names if (not suffixes or n.suffix in suffixes) and (ROOT / n).is_file()]


def cpp_files():
    return files(".cpp", ".h", ".c", under=("src", "include", "runtime", "test", "fuzz", "bench"))


def environment(**more):
    """Environment of builds: two clones on one machine share ccache's objects."""
    return {**os.environ, "CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1", **more}


def run(command, **options):
    """Runs a command in ROOT, output to the terminal; Failure unless it succeeds."""
    command = [str(part) for part in command]
    options.setdefault("env", environment())
    try:
        status = subprocess.run(command, cwd=ROOT, **options).returncode
    except FileNotFoundError:
        raise Failure(f"{command[0]} is not installed; test/setup_testing.sh installs what is needed") from None
    if status:
        raise Failure(f"exit status {status}: {shlex.join(command)}")


def is_configured(preset):
    """Whether build/<preset> was configured, and with the ExecuTorch that is installed since."""
    ninja = build_dir(preset) / "build.ninja"
    if not ninja.exists():
        return False
    runtimes = python().parent.parent.glob("lib/python*/site-packages/executorch/lib/libexecutorch.so")
    return not any(runtimes) or "tosaic_standin" in ninja.read_text()


def build(preset="release", targets=(), jobs=JOBS, fresh=False):
    """Configures build/<preset> when needed and builds it."""
    sys.stdout.flush()
    if fresh or not is_configured(preset):
        run(["cmake", "--preset", preset, *(["--fresh"] if fresh else [])], stdout=subprocess.DEVNULL)
    run(["cmake", "--build", build_dir(preset), "-j", jobs, *(["--target", *targets] if targets else [])])


def python():
    """The interpreter that has the test packages: $TOSAIC_VENV, .venv, or the one that runs this."""
    for directory in filter(None, (os.environ.get("TOSAIC_VENV"), ROOT / ".venv")):
        candidate = pathlib.Path(directory) / "bin" / "python"
        if candidate.exists():
            return candidate
    return pathlib.Path(sys.executable)


def test_environment(**more):
    """Environment of tests: the tool finds Vela in the project's virtual environment."""
    path = f"{python().parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path, **more}
