# SPDX-License-Identifier: Apache-2.0
"""Line coverage of src/ from gcov's counters (preset `coverage`)."""
import collections
import concurrent.futures
import json
import pathlib
import subprocess

from scripts import project


def reset(preset):
    for counters in project.build_dir(preset).rglob("*.gcda"):
        counters.unlink()


def lines_of(counters):
    """{source: {line: executions}} of one .gcda file."""
    done = subprocess.run(["gcov", "--json-format", "--stdout", str(counters)],
                          cwd=counters.parent, capture_output=True, text=True)
    lines = collections.defaultdict(dict)
    for document in filter(None, done.stdout.splitlines()):
        for file in json.loads(document)["files"]:
            # -ffile-prefix-map made names relative to ROOT.
            name = pathlib.PurePosixPath(file["file"])
            if name.parts[:1] == ("src",) and not name.stem.endswith("_test"):
                for line in file["lines"]:
                    count = lines[str(name)].get(line["line_number"], 0)
                    lines[str(name)][line["line_number"]] = count + line["count"]
    return lines


def report(preset):
    """Prints a table by folder; writes all uncovered lines to build/<preset>/uncovered.txt."""
    total = collections.defaultdict(collections.Counter)
    with concurrent.futures.ThreadPoolExecutor(project.JOBS) as pool:
        for lines in pool.map(lines_of, project.build_dir(preset).rglob("*.gcda")):
            for name, counts in lines.items():
                total[name].update(counts)
    folders = collections.defaultdict(lambda: [0, 0])
    listing = project.build_dir(preset) / "uncovered.txt"
    with open(listing, "w", encoding="utf-8") as out:
        for name, counts in sorted(total.items()):
            missed = sorted(line for line, count in counts.items() if not count)
            for key in (pathlib.PurePosixPath(name).parts[1], "all"):
                folders[key][0] += len(counts) - len(missed)
                folders[key][1] += len(counts)
            out.writelines(f"{name}:{line}\n" for line in missed)
    for folder, (hit, lines) in folders.items():
        print(f"{folder:12} {100 * hit / lines:6.1f} %  of {lines} lines")
    print(f"uncovered lines: {listing.relative_to(project.ROOT)}")
