# SPDX-License-Identifier: Apache-2.0
"""What the tool says of wrong command lines and files, and what never depends on where it runs."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import zipfile

import pytest

from ..common import ROOT, TARGETS, tosaic_binary
from .failing import assert_one_error, fails, start

COMMANDS = ("compile", "explain", "run", "inspect", "opt", "ops")
TO_TOSA = ("--target", "tosa-int", "-o", "model.tosa")
NOBODY = 65534


def test_unknown_words_name_the_nearest_one(folder):
    def hint(*arguments, code="E0104"):
        return fails(*arguments, code=code, folder=folder)

    assert "did you mean compile" in hint("compil", "x.pt2")
    assert "did you mean --target" in hint("compile", "x.pt2", "--targt", "tosa-int")
    assert "did you mean --vela-timeout" in hint("compile", "x.pt2", *TO_TOSA, "--vela-timout=3")
    assert "did you mean ethos-u55-128" in hint(
        "compile", "x.pt2", "--target", "ethos-u55-129", "-o", "x.pte", code="E0105"
    )
    assert "did you mean int16" in hint(
        "compile", "x.pt2", "--target", "TOSA-1.0+INT+int15", "-o", "x.tosa", code="E0105"
    )


@pytest.mark.parametrize("arguments, word", [
    ((), "subcommand"),
    (("compile",), "model"),
    (("compile", "x.pt2", "-o", "x.tosa"), "--target"),
    (("compile", "x.pt2", "--target", "tosa-int"), "--output"),
    (("compile", "x.pt2", "surplus", *TO_TOSA), "surplus"),
    (("compile", "x.pt2", *TO_TOSA, "--vela-timeout=0"), "above 0"),
    (("compile", "x.pt2", *TO_TOSA, "--vela-timeout=soon"), "soon"),
    (("compile", "x.pt2", *TO_TOSA, "--optimise=beauty"), "beauty"),
    (("compile", "x.pt2", *TO_TOSA, "--tosa-version=0.90"), "0.80, 1.0 or 1.1"),
    (("compile", "x.pt2", "--target=ethos-u55-128", "-o", "x.pte", "--tosa-version=0.80"), "TOSA 1.0"),
    (("opt", "x.tir", "--tosa-version=2"), "0.80, 1.0 or 1.1"),
    (("compile", "x.pt2", *TO_TOSA, "--arena-cache-size=-1"), "--arena-cache-size"),
    (("compile", "x.pt2", *TO_TOSA, "--stop-after=fold_qdq"), ".tir"),
    (("compile", "x.pt2", "--target", "tosa-int", "-o", "x.pte"), ".tosa"),
    (("compile", "x.pt2", "--target", "ethos-u55-128", "-o", "x.tosa"), ".pte"),
    (("compile", "x.pt2", "--target", "tosa-int", "-o", "x.txt"), "suffix"),
    (("compile", "x.pt2", "--target", "ethos-u55-128", "-o", "x.pte", "--sram-limit", ""), "empty"),
    (("compile", "x.pt2", "--target", "", "-o", "x.pte"), "empty"),
    (("compile", "x.pt2", "--target", "tosa-int", "-o", ""), "empty"),
    (("compile", "", *TO_TOSA), "empty"),
    (("compile", "x.pt2", "--target=ethos-u55-128", "-o", "x.pte", "--vela-flags=--accelerator-config=x"), "--target"),
    (("compile", "x.pt2", *TO_TOSA, "--vela=vela"), "does not go through Vela"),
    (("compile", "x.pt2", *TO_TOSA, "--config=x.ini"), "does not go through Vela"),
    (("compile", "x.pt2", *TO_TOSA, "--precision=int8"), "--calibrate"),
    (("compile", "x.pt2", *TO_TOSA, "--calibrate=x.npz", "--calibrate-limit=0"), "above 0"),
    (("opt", "x.tir", "-o", "x.pte"), ".tir or .tosa"),
    (("run", "x.tosa", "--input", "x.npz", "-o", "x.txt"), ".npz"),
    (("run", "x.tosa"), "--input"),
    (("inspect",), "file"),
    (("opt",), "file"),
    (("explain", "--target", "ethos-u55-128"), "model"),
])  # fmt: skip
def test_wrong_command_lines_are_named(folder, arguments, word):
    text = fails(*arguments, code="E0104", folder=folder)
    assert word in text, text


def test_no_input_is_overwritten(folder, program):
    """Whatever the way to it: the file that was read is as it was."""
    (folder / "x.tir").write_text("tosaic 1\n")
    (folder / "in.npz").write_bytes(b"zip")
    (folder / "link.tir").symlink_to("x.tir")
    compile_tir = ("compile", "x.tir", "--target", "tosa-int", "--stop-after=fold_qdq", "-o")
    for arguments in (
        (*compile_tir, "x.tir"),
        (*compile_tir, "./x.tir"),
        (*compile_tir, "link.tir"),
        ("run", "x.tosa", "--input", "in.npz", "-o", "in.npz"),
    ):
        assert arguments[-1] in fails(*arguments, code="E0104", folder=folder)
    assert (folder / "x.tir").read_text() == "tosaic 1\n"
    assert (folder / "in.npz").read_bytes() == b"zip"


@pytest.mark.parametrize("flag", ("--stop-after", "--disable", "--print-before", "--print-after"))
def test_unknown_pass_of_a_flag_names_the_nearest_one(folder, flag):
    arguments = ("compile", "x.pt2", "--target", "tosa-int", "-o", "x.tir", f"{flag}=fold_qd")
    assert "did you mean fold_qdq" in fails(*arguments, code="E0312", folder=folder)


def other_archive(source, target, change):
    """Copies a zip archive; `change` gets each member's name and content."""
    with zipfile.ZipFile(source) as before, zipfile.ZipFile(target, "w") as after:
        for name in before.namelist():
            after.writestr(name, change(name, before.read(name)))


@pytest.mark.parametrize("kind, code", [
    ("missing", "E0101"), ("folder", "E0103"), ("fifo", "E0103"), ("empty", "E0201"),
    ("text", "E0201"), ("wrong suffix", "E0103"), ("other zip", "E0103"),
])  # fmt: skip
def test_wrong_input_files(folder, kind, code):
    path = folder / ("model.pth" if kind == "wrong suffix" else "model.pt2")
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind in ("empty", "text"):
        path.write_text("no zip at all " * 100 if kind == "text" else "")
    elif kind == "other zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("hello.txt", "hello")
    text = fails("compile", path.name, *TO_TOSA, code=code, folder=folder, timeout=20)
    assert path.name in text
    if kind != "wrong suffix":
        assert path.name in fails("inspect", path.name, code=code, folder=folder, timeout=20)


def test_another_schema_version_is_named(folder, program):
    def newer(name, content):
        if not name.endswith("models/model.json"):
            return content
        root = json.loads(content)
        root["schema_version"]["major"] = 99
        return json.dumps(root)

    other_archive(program("add"), folder / "newer.pt2", newer)
    assert "99" in fails("compile", "newer.pt2", *TO_TOSA, code="E0301", folder=folder)


@pytest.mark.parametrize("target, suffix", [("tosa-int", "tosa"), (TARGETS["u55"], "pte")])
def test_outputs_that_cannot_be_written(folder, program, target, suffix):
    (folder / f"folder.{suffix}").mkdir()
    for output in (f"missing/x.{suffix}", f"folder.{suffix}", f"/proc/x.{suffix}"):
        text = fails(
            "compile", program("add"), "--target", target, "-o", output, code="E0102", folder=folder
        )
        assert output.split("/")[0] in text


def test_full_standard_output_is_an_error(program, folder):
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [tosaic_binary(), "inspect", program("add")], stdout=full, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
    assert result.returncode == 1 and "error[E0102]" in result.stderr, result.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_help_lists_every_flag(command, folder):
    result = start(command, "--help", folder=folder)
    assert result.returncode == 0 and not result.stderr
    assert f"tosaic {command}" in result.stdout and "--help" in result.stdout
    # What help names is taken: the parser gets as far as what is missing.
    for flag in re.findall(r"(--[a-z-]+)", result.stdout):
        if flag != "--help":
            assert "there is no flag" not in start(command, flag, folder=folder).stderr


def test_help_lists_every_command(folder):
    result = start("--help", folder=folder)
    assert result.returncode == 0
    assert set(COMMANDS) <= set(re.findall(r"^  ([a-z]+) ", result.stdout, re.MULTILINE))
    assert re.fullmatch(r"tosaic \d+\.\d+\.\d+\n", start("--version", folder=folder).stdout)


def test_dashes_and_underscores_are_the_same(folder, program):
    path = program("add")
    for flags in (
        ["--tosa-version=1.0", "--time-passes"],
        ["--tosa_version=1.0", "--time_passes"],
        ["--tosa_version", "1.0", "--time-passes"],
    ):
        result = start("compile", path, "--target=tosa_int", "-o", "x.tosa", *flags, folder=folder)
        assert result.returncode == 0, result.stderr
        assert "fold_qdq" in result.stdout
    result = start("compile", path, *TO_TOSA, "--dump=a_b-c", folder=folder)
    assert result.returncode == 0 and (folder / "a_b-c" / "main.tosa").exists()


def test_strict_refuses_what_is_left_on_the_cpu(folder, program):
    arguments = ("--target", TARGETS["u55"], "-o", "model.pte", "--strict")
    text = fails("compile", program("three_parts"), *arguments, code="E0309", folder=folder)
    assert "stride 4 is above 3" in text and "small.py" in text and "tosaic explain" in text
    assert start("compile", program("add"), *arguments, folder=folder).returncode == 0


@pytest.mark.parametrize("name", ("mit Leerzeichen", "模型-é", "-dash", "a=b"))
def test_paths_with_blanks_and_utf8(folder, program, name):
    inside = folder / name
    inside.mkdir()
    shutil.copy(program("add"), inside / f"{name}.pt2")
    output = inside / f"{name}.pte"
    result = start(
        "compile", inside / f"{name}.pt2", "--target", TARGETS["u55"], "-o", output, "--json",
        "--dump", inside / "dump", folder=folder,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["output"] == str(output)
    assert output.exists() and (inside / "dump" / "part0.payload").exists()
    assert sorted(path.name for path in inside.iterdir()) == sorted(
        [f"{name}.pt2", f"{name}.pte", "dump"]
    )


@pytest.mark.parametrize("target, suffix", [("tosa-int", "tosa"), (TARGETS["u55"], "pte")])
@pytest.mark.parametrize("net", ("dscnn", "three_parts"))
def test_output_depends_on_the_program_alone(folder, program, net, target, suffix):
    """Twice, from files of other names in other folders: the same bytes."""
    results = []
    for place in ("one", "another"):
        (folder / place).mkdir()
        copy = folder / place / f"{place}.pt2"
        shutil.copy(program(net), copy)
        output = folder / place / f"model.{suffix}"
        result = start("compile", copy, "--target", target, "-o", output, folder=folder)
        assert result.returncode == 0, result.stderr
        results.append(output.read_bytes())
    assert results[0] == results[1]


def paths_of(value, path=""):
    """Names of all leaves: {"io.inputs[].name", …}; an empty list counts as a leaf."""
    if isinstance(value, dict):
        return {leaf for key, item in value.items() for leaf in paths_of(item, f"{path}.{key}")}
    if isinstance(value, list) and value:
        return {leaf for item in value for leaf in paths_of(item, f"{path}[]")}
    return {path.strip(".").removesuffix("[]")}


def documented_fields(title):
    """The same names from the table below `title` in docs/report.md."""
    text = (ROOT / "docs" / "report.md").read_text().split(f"# {title}\n")[1].split("\n# ")[0]
    name = re.compile(r"`([a-z_]+(?:\[\])?)(?:\.\{([a-z_,]+)\})?`")
    fields = set()
    for row in text.splitlines():
        if not row.startswith("| `"):
            continue
        left, right = row.strip("|").split("|", 1)
        heads = re.findall(r"`([a-z_.\[\]]+)`", left)
        members = [
            f"{stem}.{leaf}" if leaf else stem
            for stem, leaves in name.findall(right)
            for leaf in (leaves.split(",") if leaves else [""])
        ]
        for head in heads:
            is_list = head.endswith("[]")
            fields |= {f"{head}.{member}" for member in members} if is_list and members else {
                head.removesuffix("[]")
            }
    return fields


def test_report_has_the_documented_fields_and_no_other(folder, program):
    result = start(
        "compile", program("three_parts"), "--target", TARGETS["u55"], "-o", "model.pte", "--json",
        "--time-passes", folder=folder,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    documented = documented_fields("The report of `compile` and `explain`")
    found = paths_of(report)
    # "where" of a diagnostic is that of a node.
    found = {re.sub(r"^(diagnostics\[\]\.where)\..*", r"\1", field) for field in found}
    found = {re.sub(r"\[\]$", "", field) for field in found}
    assert found == documented
    assert report["target"] == TARGETS["u55"] and report["output"] == "model.pte"
    assert report["output_bytes"] == (folder / "model.pte").stat().st_size
    assert {node["device"] for node in report["nodes"]} == {"npu", "cpu"}
    assert [item["code"] for item in report["diagnostics"]] == ["W0001"]
    assert "warning[W0001]" in result.stderr


def test_errors_with_json_go_to_standard_error(folder):
    result = start("compile", "missing.pt2", *TO_TOSA, "--json", folder=folder)
    assert_one_error(result, "E0101")


@pytest.fixture
def read_only(program):
    """A folder that the user of the test may not write, with the tool and a program in it, and how
    to run a command as that user: root may write everywhere."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="tosaic-test-"))
    shutil.copy(tosaic_binary(), place / "tosaic")
    shutil.copy(program("add"), place / "add.pt2")
    (place / "add.pt2").chmod(0o444)
    (place / "writable").mkdir()
    (place / "writable").chmod(0o777)
    place.chmod(0o555)
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}

    def run(*arguments):
        return subprocess.run(
            [place / "tosaic", *arguments], cwd=place, capture_output=True, text=True, **user,
            env={**os.environ, "TMPDIR": str(place / "writable")},
        )  # fmt: skip

    yield place, run
    place.chmod(0o755)
    shutil.rmtree(place)


def test_read_only_working_folder(read_only):
    place, run = read_only
    before = sorted(path.name for path in place.iterdir())
    result = run("compile", "add.pt2", "--target", "tosa-int", "-o", "writable/x.tosa")
    assert result.returncode == 0, result.stderr
    assert [path.name for path in (place / "writable").iterdir()] == ["x.tosa"]
    result = run("compile", "add.pt2", *TO_TOSA)
    assert_one_error(result, "E0102")
    result = run("compile", "add.pt2", *TO_TOSA[:-1], "writable/y.tosa", "--dump", "dump")
    assert_one_error(result, "E0102")
    assert sorted(path.name for path in place.iterdir()) == before
    assert [path.name for path in (place / "writable").iterdir()] == ["x.tosa"]
