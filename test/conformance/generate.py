# SPDX-License-Identifier: Apache-2.0
"""TOSA's conformance generator: writes the tests of some operators, once, into a folder."""

import json
import pathlib
import shutil
import subprocess
import sys

import tosa_reference_model

VERSION = "1.0.2"
PACKAGES = pathlib.Path(tosa_reference_model.__file__).resolve().parent.parent
TOOLS = PACKAGES / "bin"
PROFILES = {"int": "tosa-pro-int", "fp": "tosa-pro-fp"}
EXTENSIONS = {
    "int": ("int16", "int4", "doubleround", "inexactround", "controlflow", "variable"),
    "fp": ("bf16", "fft", "controlflow", "variable"),
}


def generator_command(profile, sign, operators, folder):
    paths = {
        "--ref-model-path": TOOLS / "tosa_reference_model",
        "--generate-lib-path": PACKAGES / "tosa_reference_model" / "libtosa_reference_generate_lib.so",
        "--schema-path": TOOLS / "tosa.fbs",
        "--flatc-path": TOOLS / "flatc",
        "--output-directory": folder / "tests",
        "--build-directory": folder / "build",
    }
    return [
        pathlib.Path(sys.executable).with_name("tosa_verif_conformance_generator"),
        "--tosa-version", VERSION, "--test-type", sign, "--profile", PROFILES[profile],
        "--extension", *(f"tosa-ext-{name}" for name in EXTENSIONS[profile]),
        "--unit-tests", "operator", "--output-type", "binary",
        *(word for pair in paths.items() for word in pair),
        *(("--operators", *operators) if operators else ()),
    ]  # fmt: skip


def generate(profile, sign, operators, cache):
    """The folder of the tests; `operators` empty means all. What is there already is kept."""
    name = "_".join([VERSION, profile, sign, *(sorted(operators) or ["all"])])
    folder = cache / name
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        command = [str(word) for word in generator_command(profile, sign, operators, folder)]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode:
            raise SystemExit(f"error: the generator failed:\n{result.stderr[-2000:]}")
        shutil.rmtree(folder / "build", ignore_errors=True)
        (folder / "done").touch()
    return folder / "tests"


class Test:
    """One generated test."""

    def __init__(self, path):
        self.folder = path.parent
        self.desc = json.loads(path.read_text(encoding="utf-8"))
        self.details = self.desc.get("test_details", {})
        self.operator = str(self.details.get("operator", self.folder.parent.name)).upper()
        self.tosa = self.folder / self.desc["tosa_file"]
        self.inputs = dict(zip(self.desc["ifm_name"], self.desc["ifm_file"]))
        self.outputs = self.desc["ofm_name"]
        self.rule = self.details.get("ERRORIF")

    @property
    def name(self):
        return self.folder.name

    def modes(self):
        tensors = self.desc["meta"].get("compliance", {}).get("tensors", {})
        return {name: tensors.get(name, {}).get("mode", "EXACT") for name in self.outputs}


def find_tests(folder):
    return [Test(path) for path in sorted(folder.rglob("desc.json"))]
