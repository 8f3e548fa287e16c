# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over src/ without tests, in parallel.

A clean result is remembered under the hash of all that it depends on (the file, what it includes
from the tree, its command, the checks), so that a second run only looks at what has changed.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

from scripts import project

CLANG_TIDY = "clang-tidy-15"
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


def cache_dir():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "tosaic" / "tidy"


class Hasher:
    """Content hashes of files with everything that they include from the tree."""

    def __init__(self, roots):
        self.roots = roots
        self.text = {}

    def read(self, path):
        if path not in self.text:
            data = path.read_bytes()
            names = [match.decode() for match in INCLUDE.findall(data)]
            found = [root / name for name in names for root in self.roots if (root / name).is_file()]
            self.text[path] = (data, found)
        return self.text[path]

    def closure(self, path):
        seen, todo = set(), [path]
        while todo:
            current = todo.pop()
            if current not in seen:
                seen.add(current)
                todo += self.read(current)[1]
        return sorted(seen)

    def key(self, path, salt):
        digest = hashlib.sha256(salt)
        for part in self.closure(path):
            digest.update(hashlib.sha256(self.read(part)[0]).digest())
        return digest.hexdigest()


def check(preset="release"):
    """Runs clang-tidy where needed; the outputs of the files that have findings."""
    if not shutil.which(CLANG_TIDY):
        raise project.Failure(f"{CLANG_TIDY} is not installed; test/setup_testing.sh installs it")
    directory = project.build_dir(preset)
    project.build(preset, targets=("tosaic_schemas_headers",))
    database = json.loads((directory / "compile_commands.json").read_text())
    commands = {pathlib.Path(entry["file"]): entry["command"] for entry in database}
    source = project.ROOT / "src"
    todo = sorted(path for path in commands if source in path.parents and not path.stem.endswith("_test"))
    hasher = Hasher([source, project.ROOT / "include", directory / "generated"])
    checks = (project.ROOT / ".clang-tidy").read_bytes()
    cache = cache_dir()
    cache.mkdir(parents=True, exist_ok=True)

    def one(path):
        command = commands[path].replace(str(project.ROOT), "").encode()
        marker = cache / hasher.key(path, checks + command)
        if marker.exists():
            return ""
        done = subprocess.run([CLANG_TIDY, "--quiet", "-p", str(directory), str(path)],
                              cwd=project.ROOT, capture_output=True, text=True)
        if done.returncode == 0:
            marker.touch()
            return ""
        return done.stdout.replace(f"{project.ROOT}/", "") or done.stderr

    with concurrent.futures.ThreadPoolExecutor(project.JOBS) as pool:
        return [text for text in pool.map(one, todo) if text]
