# SPDX-License-Identifier: Apache-2.0
"""The kernels of oracle/timing: what a device measured of their first launches, and what `understudy profile` says of the same."""
import collections
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import driver

TIMING = driver.ROOT / "oracle" / "timing"


def demangled(names):
    return dict(zip(names, subprocess.run(["c++filt", *names], capture_output=True, text=True, check=True).stdout.splitlines()))


def whole(kernel):
    """Names in unnamed namespaces are recorded without a number of eight digits, which their length counts."""
    return re.sub(r"_GLOBAL__N__(?=\d+_)", "_GLOBAL__N__00000000_", kernel)


def recorded(where, metrics):
    """program -> {kernel, demangled: ({metric: value}, set)}"""
    kernels = list(csv.DictReader(open(where / "kernels.tsv"), delimiter="\t"))
    columns = {row["metric"]: row for row in csv.DictReader(open(where / "metrics.tsv"), delimiter="\t")}
    names = demangled([whole(k["kernel"]) for k in kernels])
    out = collections.defaultdict(dict)
    for k in kernels:
        column = f"{k['program']}:{k['column']}"
        values = {m: columns[m][column] for m in metrics if m in columns and columns[m][column] not in ("", None)}
        out[k["program"]][names[whole(k["kernel"])]] = ({m: float(v.replace(",", "")) for m, v in values.items()}, k["set"])
    return out


def shell(where, text):
    return subprocess.run(["bash", "-c", f"source {where}/programs; {text}"], cwd=driver.ROOT, capture_output=True, text=True)


def counted(where, program, folder, metrics, options):
    """{kernel: {metric: value}} of first launches; None: it did not end in time."""
    out = folder / f"{program}.json"
    arguments = shell(where, f"timing_arguments {program}").stdout.split()
    command = [driver.UNDERSTUDY, "profile", "--json", out.resolve(), "--metrics", ",".join(metrics),
               "--filter-mode", "per-launch-config", "--launch-count", "1",
               *(["--device", options.device] if options.device else []), folder.resolve() / f"{program}.x", *arguments]
    try:
        subprocess.run(list(map(str, command)), cwd=folder, env=driver.environment(2), capture_output=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return None
    first = {}
    for launch in json.loads(out.read_text())["launches"] if out.exists() else []:
        first.setdefault(launch["kernel"], {m: v.get("value") for m, v in launch["metrics"].items()})
    return first


def add_options(p):
    p.add_argument("--public", action="store_true", help="the kernels of public programs (oracle/timing/public; US_PUBLIC: their sources)")
    p.add_argument("--common", action="store_true", help="kernels of common kinds (oracle/timing/common)")
    p.add_argument("--device", choices=["h100"], help="against an H100 (oracle/timing/h100), with --common; otherwise against an H200")
    p.add_argument("--further", action="store_true", help="more of them (oracle/timing/further)")
    p.add_argument("--programs", default="", help="comma-separated subset")
    p.add_argument("--folder", type=pathlib.Path, help="keep the programs here")
    p.add_argument("--timeout", type=float, default=300, help="seconds a program may take")


def compare(options, metrics):
    """Builds the programs; for each: its name, what was recorded of it, and what we say."""
    folder = options.folder or pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [name for name in ("public", "common", "further") if getattr(options, name)]
    where = TIMING / chosen[0] if chosen else TIMING
    everything = recorded(TIMING / options.device / where.name if options.device else where, metrics)
    built = shell(where, f"NVCC={driver.find_nvcc()} timing_build {folder} 2")
    if built.returncode:
        print(built.stderr[-2000:], file=sys.stderr)
    for program in options.programs.split(",") if options.programs else sorted(everything):
        yield program, everything[program], counted(where, program, folder, metrics, options) or {}
        print(f"bench: {program} done", file=sys.stderr)
