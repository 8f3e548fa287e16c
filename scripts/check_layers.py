# SPDX-License-Identifier: Apache-2.0
"""An include of src/ only points to a lower layer (or into its own folder).

Rank of each folder of src/. Folders of equal rank do not include each other, except those of one
GROUP, which are one layer in three folders.
"""
import pathlib
import re

from scripts import project

RANKS = {
    "support": 0,
    "ir": 1, "numeric": 1, "isa": 1,
    "tosa": 2,
    "aten": 3, "target": 3, "engine": 3,
    "passes": 4, "quant": 4, "partition": 4,
    "ethosu": 5, "pte": 5,
    "driver": 6,
    "cli": 7,
}  # fmt: skip
GROUP = {"passes", "quant", "partition"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


def layer_of(path):
    """The folder of src/ that a path relative to src/ lies in, or None."""
    parts = pathlib.PurePosixPath(path).parts
    return parts[0] if len(parts) > 1 and parts[0] in RANKS else None


def allowed(layer, included):
    """May a file of `layer` include one of `included`?"""
    if layer == included or {layer, included} <= GROUP:
        return True
    return RANKS[included] < RANKS[layer]


def allowed_in_test(layer, included):
    """Tests may also use the other folders of their own rank."""
    return RANKS[included] <= RANKS[layer]


def check_file(source, text):
    """Messages about the includes in `text`, the content of src/`source`."""
    layer = layer_of(source)
    if layer is None:
        return [f"src/{source}: lies in no layer; the layers are {', '.join(RANKS)}"]
    is_test = pathlib.PurePosixPath(source).stem.endswith("_test")
    permits = allowed_in_test if is_test else allowed
    messages = []
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        target = match.group(1)
        included = layer_of(target)
        if target.startswith("."):
            messages.append(f"src/{source}:{line}: relative include \"{target}\"; includes start at src/")
        elif included and not permits(layer, included):
            messages.append(
                f"src/{source}:{line}: {layer} (rank {RANKS[layer]}) may not include {target} "
                f"({included}, rank {RANKS[included]})"
            )
    return messages


def check():
    """Messages for the whole tree."""
    messages = []
    for path in project.files(".cpp", ".h", ".c", ".inc", ".def", under=("src",)):
        text = (project.ROOT / path).read_text(encoding="utf-8", errors="replace")
        messages += check_file(path.relative_to("src").as_posix(), text)
    return messages
