# SPDX-License-Identifier: Apache-2.0
"""Vela's two ways of being called give the same bytes, and whatever goes wrong with Vela is one
error in time that leaves neither files nor processes."""

import os
import pathlib
import signal
import subprocess
import sys
import time
import uuid

import pytest

from ..common import FAMILIES, ROOT, TARGETS, tosaic_binary
from .failing import MARK, assert_processes_end, fails, start, tree

# The time limit given, and what the whole command may take then.
LIMIT_S, PATIENCE_S = 1, 6
# A file whose name begins with "python" is called as an interpreter, others as the vela command.
WAYS = {"binding": "python3", "command": "vela"}


@pytest.fixture(params=WAYS)
def way(request):
    return request.param


@pytest.fixture
def fake(tmp_path, way):
    """Writes a shell script that is called in Vela's place; returns its path."""

    def write(body):
        path = tmp_path / WAYS[way]
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    return write


@pytest.fixture
def vela_fails(program, folder):
    """Compiles `add` with a Vela that must fail with `code`; returns what the tool says."""

    add = program("add")  # made here: what is measured is the tool

    def check(vela, code, *flags, **options):
        arguments = ("compile", add, "--target", "ethos-u55-128", "-o", "model.pte")
        return fails(*arguments, "--vela", vela, *flags, code=code, folder=folder, **options)

    return check


def test_hanging_vela_is_stopped_with_its_children(vela_fails, fake):
    vela = fake("trap '' TERM INT\nsleep 1000 &\nsleep 1000")
    begin = time.monotonic()
    text = vela_fails(vela, "E0403", f"--vela-timeout={LIMIT_S}")
    assert LIMIT_S <= time.monotonic() - begin < PATIENCE_S
    assert f"{LIMIT_S} s" in text and "--vela-timeout" in text


def test_crashing_vela_names_the_signal(vela_fails, fake):
    text = vela_fails(fake("echo last words >&2\nkill -SEGV $$"), "E0409")
    assert "SIGSEGV" in text and "last words" in text


def test_killed_vela_is_no_fault_of_the_program(vela_fails, fake):
    assert "SIGKILL" in vela_fails(fake("kill -KILL $$"), "E0404")


def test_vela_that_ends_with_a_status_says_which(vela_fails, fake):
    assert "status 7" in vela_fails(fake("exit 7"), "E0404")


def test_refusal_is_told_in_velas_words(vela_fails, tmp_path):
    """By the real command; a message of several lines becomes one."""
    vela = tmp_path / "vela"
    vela.write_text(
        "#!/bin/sh\ncat >&2 <<'EOF'\nTraceback (most recent call last):\n"
        "RuntimeError: Compilation failed: scheduling\n - no space\n - for x\nEOF\nexit 1\n"
    )
    vela.chmod(0o755)
    assert "scheduling; no space; for x" in vela_fails(vela, "E0402")
    real = pathlib.Path(sys.executable).with_name("vela")
    assert "--no-such-flag" in vela_fails(real, "E0402", "--vela-flags=--no-such-flag")


def test_refusal_by_the_binding_is_told_in_velas_words(vela_fails, tmp_path):
    """The real binding, given the first half of the TOSA by an interpreter that changes regor."""
    worker = tmp_path / "python3"
    worker.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        "from ethosu import regor\n"
        "compile = regor.compile\n"
        "def cut(architecture, tosa, *rest, **options):\n"
        "    return compile(architecture, bytes(tosa)[: len(tosa) // 2], *rest, **options)\n"
        "regor.compile = cut\n"
        f"exec(open({str(ROOT / 'src/ethosu/vela_worker.py')!r}).read())\n"
    )
    worker.chmod(0o755)
    assert "Failed to load TOSA model" in vela_fails(worker, "E0402")


@pytest.mark.parametrize("output", ("garbage", "$(head -c 100000 /dev/zero | tr '\\0' x)", ""))
def test_garbage_is_no_result(vela_fails, fake, output):
    """The binding's result comes by standard output, the command's by file."""
    assert "vela" in vela_fails(fake(f'echo "{output}"'), "E0405").lower()


def test_a_damaged_result_file_is_no_result(vela_fails, tmp_path):
    vela = tmp_path / "vela"
    vela.write_text('#!/bin/sh\necho nonsense > "$3/network_vela.npz"\n')
    vela.chmod(0o755)
    vela_fails(vela, "E0405")


@pytest.mark.parametrize("name", ("python3", "vela", "folder"))
def test_missing_vela_names_the_place_that_was_tried(vela_fails, tmp_path, name):
    place = tmp_path / "nowhere" / name
    text = vela_fails(place, "E0401")
    assert "--vela" in text and "ethos-u-vela" in text
    assert str(place) in text, text


def test_missing_vela_of_the_environment_variable(program, folder, tmp_path):
    place = tmp_path / "nowhere" / "python3"
    arguments = ("compile", program("add"), "--target", "ethos-u55-128", "-o", "model.pte")
    text = fails(*arguments, code="E0401", folder=folder, env={"TOSAIC_VELA": str(place)})
    assert "$TOSAIC_VELA" in text


def test_interpreter_and_environment_without_vela_are_missing(vela_fails, tmp_path):
    """An empty environment, and an interpreter that sees no packages."""
    (tmp_path / "empty").mkdir()
    vela_fails(tmp_path / "empty", "E0401")
    bare = tmp_path / "python3"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    bare.chmod(0o755)
    vela_fails(bare, "E0401")


def test_an_older_output_survives_a_failure(program, folder, tmp_path):
    vela = tmp_path / "vela"
    vela.write_text("#!/bin/sh\nexit 7\n")
    vela.chmod(0o755)
    (folder / "model.pte").write_text("old")
    arguments = ("compile", program("add"), "--target", "ethos-u55-128", "-o", "model.pte")
    fails(*arguments, "--vela", vela, code="E0404", folder=folder)
    assert (folder / "model.pte").read_text() == "old"


@pytest.mark.parametrize("body", ("exec sleep 1000", "sleep 1000", "trap '' INT TERM; sleep 1000 & wait"))
def test_an_interrupt_ends_vela_too(program, folder, tmp_path, body):
    """Ctrl-C during Vela: no file and no process is left, not even one that a wrapper started."""
    mark, begun = uuid.uuid4().hex, tmp_path / "begun"
    vela = tmp_path / "vela"
    vela.write_text(f"#!/bin/sh\ntouch {begun}\n{body}\n")
    vela.chmod(0o755)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    arguments = ["compile", program("add"), "--target", "ethos-u55-128", "-o", "model.pte"]
    child = subprocess.Popen(
        [tosaic_binary().resolve(), *arguments, "--vela", vela],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(temporary), MARK: mark},
        stderr=subprocess.DEVNULL,
        # Whoever runs the tests in the background ignores the signal, and the tool would too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 20
    while not begun.exists():
        assert time.monotonic() < deadline and child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    assert child.wait(PATIENCE_S) != 0
    assert_processes_end(mark)
    assert not tree(temporary) and not tree(folder)


@pytest.mark.INT
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ("add", "dscnn"))
def test_binding_and_command_give_the_same_payload(program, folder, name, family):
    interpreter = pathlib.Path(sys.executable)
    payloads = {}
    for way, vela in {"binding": interpreter, "command": interpreter.with_name("vela")}.items():
        result = start(
            "compile", program(name), "--target", TARGETS[family], "-o", f"{way}.pte",
            "--dump", way, "--vela", vela, folder=folder,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        payloads[way] = {
            path.name: path.read_bytes() for path in (folder / way).glob("*.payload")
        }
    assert len(payloads["binding"]) == 1
    assert payloads["binding"] == payloads["command"]
    assert (folder / "binding.pte").read_bytes() == (folder / "command.pte").read_bytes()
