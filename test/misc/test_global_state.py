# SPDX-License-Identifier: Apache-2.0
"""What compilations in one process, one after another or at once, could leave for each other."""

import re
import subprocess

from ..common import tosaic_binary

# Lists of what a signal must remove, and a number in temporary names; all atomic.
MUTABLE = {"temporary_names", "mappings", "process_groups", "counter"}
# Made once, before their first use, and const from then on.
CONSTANT = {"map", "kRows", "target"}


def test_the_tool_has_no_other_state_than_what_is_known():
    symbols = subprocess.run(
        ["objdump", "--syms", "--demangle", tosaic_binary()], capture_output=True, text=True, check=True
    ).stdout
    found = set()
    for line in symbols.splitlines():
        row = re.match(r"[0-9a-f]+ .{7} (\.t?(?:bss|data))\t[0-9a-f]+\s+(.*)$", line)
        if not row or "guard variable" in row[2] or not row[2].startswith("tosaic::"):
            continue
        found.add(row[2].rpartition("::")[2])
    assert MUTABLE <= found, "the binary has no symbols"
    assert found == MUTABLE | CONSTANT
