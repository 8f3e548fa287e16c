# SPDX-License-Identifier: Apache-2.0
"""What every failure of the tool has in common: one error with its code, nothing left behind."""

import os
import pathlib
import re
import subprocess
import time
import uuid

from ..common import tosaic_binary

MARK = "TOSAIC_TEST_RUN"
ERROR = re.compile(r"^(?:.*: )?error\[([EV]\d{4})\]: (.*)$", re.MULTILINE)


def tree(folder):
    """{path: content} of a folder; a folder's content is None."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def processes_with(mark):
    """Ids of the processes, zombies aside, whose environment holds MARK=mark."""
    found = []
    for place in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (place / "environ").read_bytes().split(b"\0"):
                found.append(int(place.name))
        except OSError:  # ended meanwhile, or another user's
            continue
    return found


def assert_processes_end(mark, seconds=5):
    """The watcher of a temporary folder outlives the tool by a moment."""
    deadline = time.monotonic() + seconds
    while left := processes_with(mark):
        assert time.monotonic() < deadline, f"processes are left: {left}"
        time.sleep(0.01)


def start(*arguments, folder, env=None, timeout=60, **options):
    """Runs the tool in `folder` with a temporary folder of its own, and waits until none of its
    processes is left. Returns the CompletedProcess; fails if a file stays in $TMPDIR."""
    assert tosaic_binary().exists(), f"{tosaic_binary()} does not exist: build it, or set TOSAIC"
    temporary = folder.parent / f"{folder.name}.tmp"
    temporary.mkdir(exist_ok=True)
    mark = uuid.uuid4().hex
    result = subprocess.run(
        [tosaic_binary().resolve(), *(os.fspath(argument) for argument in arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=folder,
        env={**os.environ, "TMPDIR": str(temporary), MARK: mark, **(env or {})},
        **options,
    )
    assert_processes_end(mark)
    left = tree(temporary)
    assert not left, f"in $TMPDIR: {list(left)}"
    return result


def assert_one_error(result, code):
    """Exit status 1, the one error `code` on standard error, nothing on standard output. Returns
    the error's message."""
    assert result.returncode == 1, f"exit status {result.returncode}\n{result.stderr}"
    found = ERROR.findall(result.stderr)
    assert [item[0] for item in found] == [code], f"expected one {code}:\n{result.stderr}"
    assert not result.stdout, f"on standard output: {result.stdout[:500]}"
    return found[0][1]


def fails(*arguments, code, folder, **options):
    """Runs the tool, which must fail with `code` and change no file of `folder`. Returns all that
    it says."""
    before = tree(folder)
    result = start(*arguments, folder=folder, **options)
    assert_one_error(result, code)
    assert tree(folder) == before, f"changed: {set(tree(folder)) ^ set(before)}"
    return result.stderr
