# SPDX-License-Identifier: Apache-2.0
"""TOSA's conformance generator: writes the tests of an operator, once, into a folder."""

import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys

import tosa_reference_model

VERSION = "1.0.2"
PACKAGES = pathlib.Path(tosa_reference_model.__file__).resolve().parent.parent
TOOLS = PACKAGES / "bin"
GENERATE_LIBRARY = PACKAGES / "tosa_reference_model" / "libtosa_reference_generate_lib.so"
VERIFY_LIBRARY = PACKAGES / "tosa_reference_model" / "libtosa_reference_verify_lib.so"
PROFILES = {"int": "tosa-pro-int", "fp": "tosa-pro-fp"}
EXTENSIONS = {
    "int": ("int16", "int4", "doubleround", "inexactround", "controlflow", "variable"),
    "fp": ("bf16", "fp8e4m3", "fp8e5m2", "fft", "controlflow", "variable"),
}


@functools.cache
def all_operators():
    """Names of the generator's operators of this version, in its lower case."""
    text = (PACKAGES / "conformance" / "cts-config_v1.0.json").read_text(encoding="utf-8")
    entries = {name: entry for name, entry in json.loads(text).items() if isinstance(entry, dict)}
    return sorted(name for name, entry in entries.items() if "from_version" not in entry)


def generator_command(profile, operator, folder):
    paths = {
        "--ref-model-path": TOOLS / "tosa_reference_model",
        "--generate-lib-path": GENERATE_LIBRARY,
        "--schema-path": TOOLS / "tosa.fbs",
        "--flatc-path": TOOLS / "flatc",
        "--output-directory": folder / "tests",
        "--build-directory": folder / "build",
    }
    return [
        pathlib.Path(sys.executable).with_name("tosa_verif_conformance_generator"),
        "--tosa-version", VERSION, "--test-type", "both", "--profile", PROFILES[profile],
        "--extension", *(f"tosa-ext-{name}" for name in EXTENSIONS[profile]),
        "--unit-tests", "operator", "--output-type", "binary", "-j", "1",
        *(word for pair in paths.items() for word in pair),
        "--operators", operator,
    ]  # fmt: skip


def generate(profile, operator, cache):
    """The folder of the operator's tests, positive and negative. What is there already is kept."""
    folder = cache / VERSION / profile / operator
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        command = [str(word) for word in generator_command(profile, operator, folder)]
        # It starts other tools of the package by name.
        scripts = str(pathlib.Path(sys.executable).parent)
        environment = {**os.environ, "PATH": os.pathsep.join([scripts, os.environ.get("PATH", "")])}
        result = subprocess.run(command, capture_output=True, text=True, env=environment)
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
        self.negative = self.desc["expected_failure"]
        self.rule = self.details.get("ERRORIF")
        self.integers = "tosa-pro-int" in self.desc["test_requirements"]["profiles_supported"]

    @property
    def name(self):
        return self.folder.name

    def modes(self):
        """{output: compliance mode}."""
        tensors = self.desc["meta"].get("compliance", {}).get("tensors", {})
        return {name: tensors.get(name, {}).get("mode", "EXACT") for name in self.outputs}


def find_tests(folder):
    return [Test(path) for path in sorted(folder.rglob("desc.json"))]
