# SPDX-License-Identifier: Apache-2.0
import pytest

from ..tester.stages import net


@pytest.fixture
def folder(tmp_path):
    """An empty folder to run the tool in."""
    path = tmp_path / "here"
    path.mkdir()
    return path


@pytest.fixture(scope="session")
def program(workspace):
    """The path of a reference network's .pt2 by name, quantised unless `quantizer` is "float"."""

    def path(name, quantizer="arm"):
        return workspace.program(net(name), None if quantizer == "float" else quantizer).path

    return path
