# SPDX-License-Identifier: Apache-2.0
"""Fixtures and markers; written so that the tests run with `pytest -c /dev/null` from any
directory."""

import pathlib

import pytest

from .common import MARKERS


def pytest_configure(config):
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keeps the tests of one file in one process: they share imports that take seconds, and
    exported programs."""
    if config.getvalue("dist") in ("load", "worksteal"):
        from xdist.scheduler import LoadFileScheduling

        return LoadFileScheduling(config, log)
    return None


@pytest.fixture(scope="session")
def workspace(tmp_path_factory):
    """The directory and the cache of exported programs that all tests of one process share."""
    from .tester.stages import Workspace

    return Workspace(pathlib.Path(tmp_path_factory.mktemp("programs")))
