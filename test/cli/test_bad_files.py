# SPDX-License-Identifier: Apache-2.0
"""Files that are missing, of another kind, forbidden or full, at every flag that names one: one
error with the path, nothing left behind. And names that hold anything."""

import functools
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import pytest

from ..common import TARGETS, tosaic_binary
from .failing import assert_one_error, fails, start, tree

NOBODY = 65534
U55 = ("--target", TARGETS["u55"])
# A command line for every place of a file that is read; "@" stands for its path. Other words are
# files of `inputs`.
READERS = {
    "compile": ("compile", "@.pt2", *U55, "-o", "out.pte"),
    "compile text": ("compile", "@.tir", *U55, "-o", "out.pte"),
    "calibrate": ("compile", "float.pt2", *U55, "-o", "out.pte", "--calibrate", "@.npz"),
    "config": ("compile", "add.pt2", *U55, "-o", "out.pte", "--config", "@.ini"),
    "explain": ("explain", "@.tosa", *U55),
    "explain batch": ("explain", "--batch", "@.json", *U55),
    "run": ("run", "@.tosa", "--input", "in.npz", "-o", "out.npz"),
    "run input": ("run", "add.tosa", "--input", "@.npz", "-o", "out.npz"),
    "run batch": ("run", "--batch", "@.json"),
    "inspect pt2": ("inspect", "@.pt2"),
    "inspect tosa": ("inspect", "@.tosa"),
    "inspect pte": ("inspect", "@.pte"),
    "inspect npz": ("inspect", "@.npz"),
    "opt": ("opt", "@.tir"),
}
# The same for files that are written; those in which a folder stands fill what lies in it.
WRITERS = {
    "tosa": ("compile", "float.pt2", "--target", "tosa-fp", "-o", "out.tosa"),
    "pte": ("compile", "add.pt2", *U55, "-o", "out.pte"),
    "tir": ("compile", "add.pt2", *U55, "-o", "out.tir", "--stop-after", "fold_qdq"),
    "npz": ("run", "add.tosa", "--input", "in.npz", "-o", "out.npz"),
    "opt": ("opt", "add.tir", "-o", "out.tir"),
}


@pytest.fixture(scope="module")
def small_files(program, tmp_path_factory):
    """Small files of each kind."""
    folder = tmp_path_factory.mktemp("small") / "files"
    folder.mkdir()
    shutil.copy(program("add"), folder / "add.pt2")
    shutil.copy(program("add", "float"), folder / "float.pt2")
    made = start("compile", "float.pt2", "--target", "tosa-fp", "-o", "add.tosa", folder=folder)
    assert made.returncode == 0, made.stderr
    shown = json.loads(start("inspect", "add.tosa", "--json", folder=folder).stdout)
    arrays = {i["name"]: np.zeros(i["shape"], np.float32) for i in shown["inputs"]}
    np.savez(folder / "in.npz", **arrays)
    name = "x" * 500
    text = f"tosa graph @main(%{name}: i8[4]) {{\n  return %{name}\n}}\n"
    (folder / "add.tir").write_text(text)
    return folder


@pytest.fixture
def inputs(folder, small_files):
    """The working folder with these files in it."""
    return shutil.copytree(small_files, folder, dirs_exist_ok=True)


def with_file(words, path):
    return [path + word[1:] if word.startswith("@") else word for word in words]


@pytest.mark.parametrize("kind, code", [("missing", "E0101"), ("folder", "E0103"), ("fifo", "E0103")])
@pytest.mark.parametrize("place", READERS)
def test_files_that_are_none(inputs, place, kind, code):
    words = with_file(READERS[place], "bad")
    (name,) = [word for word in words if word.startswith("bad.")]
    if kind == "folder":
        (inputs / name).mkdir()
        if place == "calibrate":  # which takes a folder of files
            code = "E0310"
    elif kind == "fifo":
        os.mkfifo(inputs / name)
    assert name in fails(*words, code=code, folder=inputs, timeout=20)


@pytest.fixture
def as_nobody(inputs):
    """Runs the tool in a folder of files as a user who may not read all of them: root may."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="tosaic-test-"))
    shutil.copytree(inputs, place, dirs_exist_ok=True)
    shutil.copy(tosaic_binary(), place / "tosaic")
    place.chmod(0o777)
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}

    def run(*words):
        return subprocess.run(
            [place / "tosaic", *words], cwd=place, capture_output=True, text=True, **user,
            env={**os.environ, "TMPDIR": str(place)},
        )  # fmt: skip

    yield place, run
    shutil.rmtree(place)


def test_files_that_may_not_be_read(as_nobody):
    folder, run = as_nobody
    for words in READERS.values():
        words = with_file(words, "bad")
        (name,) = [word for word in words if word.startswith("bad.")]
        (folder / name).write_text("secret")
        (folder / name).chmod(0)
        result = run(*words)
        assert_one_error(result, "E0101")
        assert name in result.stderr and "Permission denied" in result.stderr
    assert not list(folder.glob("out*"))


@pytest.mark.parametrize("place", WRITERS)
def test_a_full_disk_leaves_nothing(inputs, place):
    """write() fails after some bytes; an older file keeps its content."""
    output = WRITERS[place][WRITERS[place].index("-o") + 1]
    limit = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (200, 200))
    for older in (False, True):
        if older:
            (inputs / output).write_text("older")
        text = fails(*WRITERS[place], code="E0102", folder=inputs, preexec_fn=limit)
        assert output in text and "large" in text


@pytest.mark.parametrize("place", WRITERS)
def test_a_full_device_is_an_error(inputs, place):
    output = WRITERS[place][WRITERS[place].index("-o") + 1]
    (inputs / output).symlink_to("/dev/full")
    result = start(*WRITERS[place], folder=inputs)
    assert_one_error(result, "E0102")
    assert output in result.stderr and "space" in result.stderr
    assert (inputs / output).is_symlink()


def test_a_full_disk_of_velas_files_is_no_refusal(inputs):
    """What Vela's command cannot write is not the program's fault: no node is searched for."""
    vela = pathlib.Path(sys.executable).with_name("vela")
    words = ("compile", "add.pt2", *U55, "-o", "out.pte", "--vela", vela)
    # Our own file is just small enough, its are not.
    size = max(4096, (inputs / "add.tosa").stat().st_size + 1000)
    limit = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size))
    text = fails(*words, code="E0404", folder=inputs, preexec_fn=limit)
    assert "too large" in text and "TMPDIR" in text


def test_closed_standard_output_is_an_error(inputs):
    for words in (("inspect", "add.tosa"), ("ops",), ("opt", "add.tir"), ("explain", "add.pt2", *U55)):
        result = subprocess.run(
            [tosaic_binary().resolve(), *words], cwd=inputs, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: os.close(1),
        )  # fmt: skip
        assert result.returncode == 1 and "error[E0102]" in result.stderr, (words, result.stderr)


def test_a_path_of_bytes_that_are_no_text(inputs):
    """Linux takes any bytes; what is printed is UTF-8 all the same."""
    name = os.fsdecode(b"\xff\xfe\x1b[31m")
    (inputs / "add.pt2").rename(inputs / f"{name}.pt2")
    result = start("compile", f"{name}.pt2", *U55, "-o", f"{name}.pte", folder=inputs)
    assert result.returncode == 0, result.stderr
    assert r"\xff\xfe\x1b[31m.pte" in result.stdout
    shown = start("inspect", f"{name}.pte", folder=inputs)
    assert r"\xff\xfe\x1b[31m.pte" in shown.stdout
    missing = start("inspect", f"{name}.tosa", folder=inputs)
    assert r"\xff\xfe\x1b[31m.tosa" in missing.stderr


def test_names_in_flatbuffers_reach_no_terminal(inputs):
    """Of tensors in a .tosa, and of delegates, kernels and methods in a .pte."""
    made = start("compile", "add.pt2", *U55, "-o", "add.pte", folder=inputs)
    assert made.returncode == 0, made.stderr
    tosa = json.loads(start("inspect", "add.tosa", "--json", folder=inputs).stdout)
    names = {"add.tosa": [tosa["outputs"][0]["name"]],
             "add.pte": ["EthosUBackend", "forward", "quantized_decomposed::quantize_per_tensor"]}
    for file, found in names.items():
        content = (inputs / file).read_bytes()
        for name in map(str.encode, found):
            assert name in content
            content = content.replace(name, (b"\x1b\xff" + b"x" * len(name))[: len(name)])
        (inputs / f"odd_{file}").write_bytes(content)
        for flags in ((), ("--json",)):
            result = start("inspect", f"odd_{file}", *flags, folder=inputs)  # decodes UTF-8
            assert result.returncode == 0, result.stderr
            assert "\x1b" not in result.stdout
            assert flags or r"\xff" in result.stdout
            if flags:
                json.loads(result.stdout)


def changed_program(source, target, change):
    """Copies a .pt2; `change` gets the text of the program."""
    with zipfile.ZipFile(source) as before, zipfile.ZipFile(target, "w") as after:
        for name in before.namelist():
            content = before.read(name)
            if name.endswith("models/model.json"):
                content = change(content.decode()).encode()
            after.writestr(name, content)


def test_names_in_programs_reach_no_terminal(inputs, program):
    """JSON can hold control characters as escapes."""
    odd = r"\u001b[31m\n\u0007"
    changed_program(
        program("three_parts"), inputs / "odd.pt2",
        lambda text: text.replace("small.py", odd + "small.py"),
    )  # fmt: skip
    for words in (
        ("explain", "odd.pt2", *U55), ("explain", "odd.pt2", *U55, "--json"),
        ("inspect", "odd.pt2"), ("compile", "odd.pt2", *U55, "-o", "odd.pte"),
    ):  # fmt: skip
        result = start(*words, folder=inputs)
        assert result.returncode == 0, result.stderr
        for text in (result.stdout, result.stderr):
            assert "\x1b" not in text and "\x07" not in text, words
    assert "small.py" in start("explain", "odd.pt2", *U55, folder=inputs).stdout


def test_pickles_are_never_read(inputs, program):
    """Exported programs carry sample inputs as a pickle: whatever lies there changes nothing."""
    with zipfile.ZipFile(program("add")) as before, zipfile.ZipFile(inputs / "odd.pt2", "w") as after:
        found = 0
        for name in before.namelist():
            content = before.read(name)
            if "sample_inputs" in name:
                # cos\nsystem\n(S'touch owned'\ntR. runs a command when it is loaded.
                found, content = found + 1, b"cos\nsystem\n(S'touch owned'\ntR."
            after.writestr(name, content)
        assert found
        root = before.namelist()[0].split("/")[0]
        after.writestr(f"{root}/data.pkl", b"cos\nsystem\n(S'touch owned'\ntR.")
    for source in ("add", "odd"):
        result = start(
            "compile", f"{source}.pt2", *U55, "-o", f"{source}.pte", folder=inputs
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
    assert (inputs / "add.pte").read_bytes() == (inputs / "odd.pte").read_bytes()
    assert "owned" not in tree(inputs)


@pytest.mark.parametrize("name, value", [
    *(("scale", value) for value in (0, -0.1, 1e-320, 1e-40, 1e300, "NaN", "Infinity")),
    *(("zero_point", value) for value in (200, -129, 1 << 40)),
    *(("quant_min", value) for value in (-129, 127, 128)),
    *(("quant_max", value) for value in (128, -128, -129)),
])  # fmt: skip
def test_quantisation_parameters_out_of_range_are_named(inputs, name, value):
    """Float32 is what kernels and Vela compute scales in, so its limits count. (PyTorch writes
    what JSON has no number for as text.)"""

    def change(text):
        root = json.loads(text)
        for node in root["graph_module"]["graph"]["nodes"]:
            for argument in node["inputs"] if "quantize_per_tensor" in node["target"] else ():
                if argument["name"] == name:
                    argument["arg"] = {"as_float" if name == "scale" else "as_int": value}
        return json.dumps(root)

    changed_program(inputs / "add.pt2", inputs / "odd.pt2", change)
    result = start("compile", "odd.pt2", *U55, "-o", "odd.pte", "--dump", "dump", folder=inputs)
    assert_one_error(result, "E0305")
    assert not (inputs / "odd.pte").exists()
    said = result.stderr.replace("inf,", "infinity,")
    assert str(value).lower() in said and "quantize_per_tensor" in said
    # One command shows it again.
    (command,) = [line for line in said.splitlines() if "tosaic opt" in line]
    words = command[command.index("tosaic opt") :].split()[1:]
    again = start(*words, folder=inputs, env={"TMPDIR": str(inputs)})
    assert_one_error(again, "E0305")
