# SPDX-License-Identifier: Apache-2.0
"""Compiles TOSA with Vela's Python binding. Run by tosaic; vela_binding.cpp is the other side.

A message, in both directions, is: u32 length of a JSON object, the object, and the blobs whose
lengths its list "blobs" holds (little endian). On stdin and stdout go: our hello, a request, our
result.
"""
import os
import sys

sys.path[:] = [p for p in sys.path if p]  # with -c the current directory would be searched first
channel = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # what the library prints goes to the log

import json
import struct


def send(head, *blobs):
    head["blobs"] = [len(b) for b in blobs]
    text = json.dumps(head).encode()
    channel.write(struct.pack("<I", len(text)) + text)
    for blob in blobs:
        channel.write(blob)
    channel.flush()


def finish(head, *blobs):
    send(head, *blobs)
    os._exit(0)  # skips the teardown of interpreter and library


def receive(num_bytes):
    data = sys.stdin.buffer.read(num_bytes)
    if len(data) != num_bytes:
        os._exit(2)  # tosaic ended, or found an error in the configuration
    return data


def installed_version(site):
    """Of the wheel's metadata folder; importlib.metadata takes as long to import as all else."""
    prefix = "ethos_u_vela-"
    for name in os.listdir(site):
        if name.startswith(prefix) and name.endswith(".dist-info"):
            return name[len(prefix) : -len(".dist-info")]
    return ""


def tensor(t):
    return {
        "region": t.region,
        "address": t.address,
        "size": t.size,
        "element_size": t.element_size,
        "shape": list(t.shape),
    }


def memory(m):
    accesses = [[k, a.bytesRead, a.bytesWritten, a.accessCycles] for k, a in m.accesses.items()]
    return {
        "name": m.memoryName,
        "peak": m.peakUsage,
        "cycles": getattr(m, "totalAccessCycles", 0),  # Vela 4 has none
        "accesses": accesses,
    }


def performance(p):
    return {
        "total_cycles": p.totalCycles,
        "npu_cycles": p.npuCycles,
        "cpu_cycles": p.cpuCycles,
        "macs": p.macCount,
        "npu_ops": p.npuOps,
        "cpu_ops": p.cpuOps,
        "memories": [memory(m) for m in p.memories.values() if m.peakUsage or m.accesses],
    }


def ops(database):
    """Rows [name, kind, index of the TOSA operator, cycles, MACs, staging bytes]."""
    tables = database.tables
    if "perf" not in tables or "source" not in tables:
        return []

    def rows(table):
        return [dict(zip(table.header, row)) for row in table.data]

    source = {row["id"]: row["ext_key"] for row in rows(tables["source"])}

    def row(r):
        numbers = [int(r.get(k) or 0) for k in ("op_cycles", "mac_count", "staging_usage")]
        return [r["name"], r["operator"], int(source.get(r["source_id"], -1)), *numbers]

    return [row(r) for r in rows(tables["perf"])]


def main():
    try:
        from ethosu import regor
    except ImportError as e:
        finish({"missing": str(e)})
    here = os.path.dirname(os.path.abspath(regor.__file__))
    ini = os.path.join(here, "config_files", "Arm", "vela.ini")
    send({"version": installed_version(os.path.dirname(here)), "ini": ini})
    head_bytes = struct.unpack("<I", receive(4))[0]
    request = json.loads(receive(head_bytes).decode("utf-8", "replace"))
    tosa = receive(request["blobs"][0])
    try:
        model = regor.compile(
            request["architecture"], tosa, "TOSA", request["system"], options=request["options"]
        )
    except MemoryError:
        finish({"memory": True})
    except Exception as e:
        finish({"refused": str(e)})
    result = {
        "scratch": model.scratch.size,
        "scratch_fast": model.scratch_fast.size,
        "inputs": [tensor(t) for t in model.inputs],
        "outputs": [tensor(t) for t in model.outputs],
        "variables": len(getattr(model, "variables", [])),
        "performance": performance(model.perf_report),
        "ops": ops(model.opt_database) if request["enable_db"] else [],
    }
    finish(result, model.command_stream, model.read_only.data)


main()
