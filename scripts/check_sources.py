# SPDX-License-Identifier: Apache-2.0
"""Rules about single files: licence line, size, and clang-format's layout."""
import concurrent.futures
import shutil
import subprocess

from scripts import project

LICENCE = "SPDX-License-Identifier: Apache-2.0"
MAX_BYTES = 40 * 1024
SOURCES = {".cpp", ".h", ".c", ".inc", ".def", ".py", ".sh", ".cmake", ".fbs"}
CLANG_FORMAT = "clang-format-15"
FORMAT_FINDING = " error: code should be clang-formatted"


def is_source(path):
    if path.suffix in SOURCES or path.name == "CMakeLists.txt":
        return True
    with open(project.ROOT / path, "rb") as file:
        return file.read(2) == b"#!"


def check_file(path):
    """Messages about one file, relative to ROOT."""
    if not is_source(path):
        return []
    data = (project.ROOT / path).read_bytes()
    messages = []
    head = data[:400].decode("utf-8", "replace").splitlines()[:3]
    if data.strip() and not any(LICENCE in line for line in head):
        messages.append(f"{path}:1: the first lines lack '{LICENCE}'")
    if len(data) > MAX_BYTES:
        messages.append(f"{path}: {len(data)} bytes, above {MAX_BYTES}; split it")
    return messages


def check():
    return [message for path in project.files() for message in check_file(path)]


def clang_format(arguments, paths):
    """Runs clang-format over paths in parallel; the outputs of the chunks that failed."""
    if not shutil.which(CLANG_FORMAT):
        raise project.Failure(f"{CLANG_FORMAT} is not installed; test/setup_testing.sh installs it")
    chunks = [paths[i::project.JOBS * 4] for i in range(project.JOBS * 4)]

    def one(chunk):
        command = [CLANG_FORMAT, *arguments, *map(str, chunk)]
        done = subprocess.run(command, cwd=project.ROOT, capture_output=True, text=True)
        return done.stderr + done.stdout if done.returncode else ""

    with concurrent.futures.ThreadPoolExecutor(project.JOBS) as pool:
        return [text for text in pool.map(one, filter(None, chunks)) if text]


def check_format():
    """One message per place that `./dev fmt` would change."""
    messages = []
    for text in clang_format(["--dry-run", "--Werror"], project.cpp_files()):
        places = [line.split(" error: ")[0] for line in text.splitlines() if FORMAT_FINDING in line]
        messages += [f"{place} ./dev fmt changes this line" for place in places] or [text]
    return messages


def format_all():
    failed = clang_format(["-i"], project.cpp_files())
    if failed:
        raise project.Failure("".join(failed))
