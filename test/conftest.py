# SPDX-License-Identifier: Apache-2.0
"""Fixtures and markers; written so that the tests run with `pytest -c /dev/null` from any
directory."""

import pathlib
import shutil

import pytest

from .common import MARKERS

FVPS = ("FVP_Corstone_SSE-300_Ethos-U55", "FVP_Corstone_SSE-320")


def pytest_addoption(parser):
    parser.addoption(
        "--arm_run_corstoneFVP",
        action="store_true",
        help=f"run on Arm's models of boards, {' and '.join(FVPS)} on PATH; not supported yet, so an error",
    )
    parser.addoption("--full", action="store_true", help="with test/full, which takes an hour")


def pytest_ignore_collect(collection_path, config):
    return collection_path.name == "full" and not config.getoption("full") or None


def refuse_fvp():
    """Tests that passed elsewhere than where they were asked to run would be believed."""
    missing = [name for name in FVPS if not shutil.which(name)]
    if missing:
        found = f"{' and '.join(missing)} not found on PATH: install Arm's Corstone FVPs and put them there"
    else:
        found = "the FVPs are on PATH, but there is no executor runner for them"
    raise pytest.UsageError(
        f"--arm_run_corstoneFVP: {found}. Tests cannot run on an FVP yet; without this flag they "
        "compile for the NPU through Vela and run the .pte in ExecuTorch's runtime on this machine"
    )


def pytest_configure(config):
    if config.getoption("arm_run_corstoneFVP"):
        refuse_fvp()
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keeps the tests of one file in one process, and in test/full those of one network: they share
    imports that take seconds, and exported programs."""
    if config.getvalue("dist") not in ("load", "worksteal"):
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            network = nodeid.partition("[")[2].partition("-")[0]
            return f"full/{network}" if "full/test_matrix" in nodeid else super()._split_scope(nodeid)

    return Scheduling(config, log)


@pytest.fixture(scope="session")
def workspace(tmp_path_factory):
    """The directory and the cache of exported programs that all tests of one process share."""
    from .tester.stages import Workspace

    return Workspace(pathlib.Path(tmp_path_factory.mktemp("programs")))
