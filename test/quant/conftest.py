# SPDX-License-Identifier: Apache-2.0
import pytest


@pytest.fixture
def folder(tmp_path):
    """An empty folder to run the tool in."""
    path = tmp_path / "here"
    path.mkdir()
    return path
