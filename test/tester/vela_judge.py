# SPDX-License-Identifier: Apache-2.0
"""Which programs Vela takes: many of them, each in a child forked from one process that has Vela's
binding loaded, so that neither a crash nor an endless search costs more than its own program."""

import os
import pathlib
import re
import resource
import signal

import ethosu
from ethosu import regor

TAKEN = "taken"
TIME_LIMIT = "time limit"
FAMILIES = {  # system configuration and memory mode of Vela's own vela.ini
    "55": ("Ethos_U55_High_End_Embedded", "Shared_Sram"),
    "65": ("Ethos_U65_High_End", "Dedicated_Sram_384KB"),
    "85": ("Ethos_U85_SYS_DRAM_Mid", "Sram_Only"),
}
ACCELERATORS = [
    *(f"ethos-u55-{macs}" for macs in (32, 64, 128, 256)),
    *(f"ethos-u65-{macs}" for macs in (256, 512)),
    *(f"ethos-u85-{macs}" for macs in (128, 256, 512, 1024, 2048)),
]
INI = (pathlib.Path(list(ethosu.__path__)[0]) / "config_files" / "Arm" / "vela.ini").read_text()
OPTIONS = "[compiler]\noutput_format=Raw\ncop_format=COP1\nperf_report=true\n[scheduler]\noptimize=Performance\n"


def system(accelerator):
    """(architecture, system configuration) as regor wants them."""
    family, macs = re.fullmatch(r"ethos-u(\d+)-(\d+)", accelerator).groups()
    macs, cores = (256, 2) if accelerator == "ethos-u65-512" else (macs, 1)
    system_config, memory_mode = FAMILIES[family]
    text = f"[architecture]\nmacs={macs}\ncores={cores}\n[vela]\nsystem_config_name={system_config}\n"
    return f"EthosU{family}", f"{text}memory_mode_name={memory_mode}\n{INI}"


def verdict(path, accelerator):
    """TAKEN, or Vela's words in one line."""
    architecture, config = system(accelerator)
    tosa = pathlib.Path(path).read_bytes()
    try:
        model = regor.compile(architecture, tosa, "TOSA", config, options=OPTIONS)
    except RuntimeError as error:
        return " ".join(str(error).split())
    if model.perf_report.cpuOps:
        return f"{model.perf_report.cpuOps} operations left to the CPU"
    return TAKEN


class Child:
    """One compilation in a process of its own, which ends after some seconds of processor time."""

    def __init__(self, key, path, accelerator, seconds):
        self.key = key
        reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            os.write(writer, verdict(path, accelerator).encode()[:4000])
            os._exit(0)
        os.close(writer)
        self.reader = reader

    def result(self, status):
        with os.fdopen(self.reader, "rb") as pipe:
            text = pipe.read().decode()
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            return TIME_LIMIT if number == signal.SIGXCPU else f"signal {number}"
        return text or f"status {os.WEXITSTATUS(status)}"


def judge(programs, accelerator, seconds=20, jobs=2):
    """{key: verdict} of {key: path of a .tosa}. `seconds` of processor time for each."""
    running, verdicts = {}, {}
    pending = iter(programs.items())
    while True:
        while len(running) < jobs and (item := next(pending, None)):
            child = Child(*item, accelerator, seconds)
            running[child.pid] = child
        if not running:
            return verdicts
        pid, status = os.waitpid(-1, 0)
        child = running.pop(pid)
        verdicts[child.key] = child.result(status)
