# SPDX-License-Identifier: Apache-2.0
"""Runs pytest over test/ and counts its cases."""
import subprocess
import tempfile
import xml.etree.ElementTree

from scripts import project

NO_TESTS = 5  # pytest's exit status


def run(preset, paths=(), expression=None, flags=()):
    """(passed, failed) of pytest with the tool of a preset; a skipped case has failed."""
    paths = [str(path) for path in paths] or [str(p) for p in [project.ROOT / "test"] if p.is_dir()]
    if not paths:
        return 0, 0
    # One process per core: threads inside would only fight for them.
    environment = project.test_environment(TOSAIC_TOOL=str(project.tool(preset)),
                                           PYTHONPATH=str(project.ROOT), OMP_NUM_THREADS="1")
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        command = [project.python(), "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider",
                   "-n", str(project.JOBS), f"--rootdir={project.ROOT}", f"--junitxml={report.name}",
                   *(["-k", expression] if expression else []), *flags, *paths]
        status = subprocess.run(command, cwd=project.ROOT, env=environment).returncode
        if status == NO_TESTS:
            return 0, 0
        try:
            suites = list(xml.etree.ElementTree.parse(report.name).getroot().iter("testsuite"))
        except xml.etree.ElementTree.ParseError:
            raise project.Failure(f"pytest ended with status {status} and no report; "
                                  "test/setup_testing.sh installs it") from None
    count = {key: sum(int(suite.get(key, 0)) for suite in suites)
             for key in ("tests", "failures", "errors", "skipped")}
    failed = count["failures"] + count["errors"] + count["skipped"]
    return max(count["tests"] - failed, 0), failed or int(status != 0)
