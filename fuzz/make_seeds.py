# SPDX-License-Identifier: Apache-2.0
"""Writes the files that fuzzing starts from: python -m fuzz.make_seeds FOLDER, a folder per target."""

import importlib.resources
import pathlib
import shutil
import subprocess
import sys

import numpy as np

from test.common import ROOT, TARGETS
from test.tester.native import invoke
from test.tester.stages import Workspace, net

# Small networks: an input of some kilobytes is changed in a useful place more often.
PROGRAMS = (("add", "float"), ("add", "arm"), ("linear", "arm"), ("cat", "xnnpack"))
TOSA_ALONE = ("encoder", "gru", "lstm", "audio", "leaky_relu", "mlp")
MOST_BYTES = 30_000
GOLDEN_SEPARATOR = "// ----- expected"


def write_programs(folders, scratch):
    """.pt2, and what the tool makes of it."""
    workspace = Workspace(scratch / "programs")
    for name, quantizer in PROGRAMS:
        key = f"{name}_{quantizer}"
        path = workspace.program(net(name), None if quantizer == "float" else quantizer).path
        shutil.copy(path, folders["pt2"] / f"{key}.pt2")
        target = "tosa-fp" if quantizer == "float" else "tosa-int"
        tosa = folders["tosa"] / f"{key}.tosa"
        invoke("compile", path, "--target", target, "-o", tosa)
        invoke("compile", path, "--target", target, "-o", folders["tir"] / f"{key}.tir",
               "--stop-after", "fold_qdq")  # fmt: skip
        if quantizer == "float":
            continue
        dump = scratch / key
        invoke("compile", path, "--target", TARGETS["u55"], "-o", folders["pte"] / f"{key}.pte",
               "--dump", dump)  # fmt: skip
        for part in dump.glob("*.payload"):
            shutil.copy(part, folders["payload"] / f"{key}_{part.name}")
        vela = [pathlib.Path(sys.executable).with_name("vela"), tosa, "--output-format", "raw"]
        command = [*vela, "--accelerator-config", TARGETS["u55"], "--output-dir", scratch / key]
        if subprocess.run(command, capture_output=True).returncode == 0:
            shutil.copy(scratch / key / f"{key}_vela.npz", folders["vela_npz"])
    for name in TOSA_ALONE:
        path = workspace.program(net(name)).path
        invoke("compile", path, "--target", "tosa-fp", "-o", folders["tosa"] / f"{name}.tosa")


def write_golden_texts(folders):
    """The golden files before and after their passes, and those of TOSA as .tosa."""
    for path in (ROOT / "test" / "passes").rglob("*.tir"):
        texts = path.read_text().split(GOLDEN_SEPARATOR)
        for side, text in zip(("before", "after"), texts):
            name = f"{path.parent.name}_{path.stem}_{side}"
            written = folders["tir"] / f"{name}.tir"
            written.write_text(text.partition("\n")[2] if side == "after" else text)
            invoke("opt", written, "-o", folders["tosa"] / f"{name}.tosa", check=False)


def write_arrays(folder):
    generator = np.random.default_rng(1)
    arrays = {dtype: generator.integers(0, 2, (2, 3)).astype(dtype)
              for dtype in ("bool", "i1", "u2", "i4", "i8", "f2", "f4", "f8", ">f4")}
    np.savez(folder / "stored.npz", **arrays)
    np.savez_compressed(folder / "compressed.npz", **arrays)
    np.save(folder / "fortran.npy", np.asfortranarray(arrays["f4"]))
    np.save(folder / "scalar.npy", np.float32(3))
    np.savez(folder / "empty.npz")


def write_configurations(folder):
    text = (importlib.resources.files("ethosu") / "config_files/Arm/vela.ini").read_text()
    (folder / "arm.ini").write_text(text)
    sections = ["[" + part for part in text.split("\n[")[1:]]
    modes = [part for part in sections if part.startswith("[Memory_Mode")]
    for index, part in enumerate(part for part in sections if part.startswith("[System_Config")):
        (folder / f"{index}.ini").write_text(part + "\n" + modes[index % len(modes)] + "\n")
    (folder / "inherit.ini").write_text(
        sections[0] + "\n[System_Config.Own]\ninherit=" + sections[0][1:].split("]")[0]
        + "\ncore_clock: 5e8\n" + modes[0] + "\n"
    )  # fmt: skip


def main(place):
    names = ("tosa", "pt2", "npz", "vela_npz", "ini", "tir", "payload", "pte")
    folders = {name: place / name for name in names}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    scratch = place / "scratch"
    scratch.mkdir(exist_ok=True)
    write_programs(folders, scratch)
    write_golden_texts(folders)
    write_arrays(folders["npz"])
    write_configurations(folders["ini"])
    shutil.rmtree(scratch)
    for name, folder in folders.items():
        for path in folder.iterdir():
            if path.stat().st_size > MOST_BYTES:
                path.unlink()
        assert any(folder.iterdir()), f"no seeds for {name}"


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
