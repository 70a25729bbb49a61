#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the built twins of tests/sanitizer on a device, plainly and under compute-sanitizer, and writes a table.

BINARIES/last.txt names twins to be run last, BINARIES/done_TOOL.txt those that need not be run again.

usage: record.py BINARIES OUT TOOL[,TOOL...] [--jobs N] [--limit SECONDS]     TOOL: plain memcheck racecheck initcheck synccheck
Writes OUT/TOOL.tsv: twin, exit code (or "timeout"), hash of standard output, its last line, findings, first messages.
"""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import signal
import subprocess
import time

SECONDS = 10
SANITIZER = "/usr/local/cuda/bin/compute-sanitizer"
SUMMARY = re.compile(r"(ERROR|RACECHECK) SUMMARY: (\d+) (?:errors?|hazards? displayed) ?(\(.*?\))?")
NOISE = re.compile(r"^(COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK SUMMARY|Target application|$)")


def messages(text):
    """The first lines of reports: lines of the tool that are not indented, without addresses."""
    found = []
    for line in re.findall(r"(?m)^========= (?! )(.*)$", text):
        line = re.sub(r"0x[0-9a-f]+", "0x", line).strip()
        if not NOISE.match(line) and line not in found:
            found.append(line)
    return " | ".join(found[:3])[:300].replace("\t", " ")


def run(tool, program, deadline):
    if time.time() > deadline:
        return None
    command = [str(program)]
    if tool != "plain":
        command = [SANITIZER, "--tool", tool, "--print-limit", "20", *command]
    # A session of its own: a twin that the tool started must not outlive it with a kernel that never ends.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace",
                               start_new_session=True)
    try:
        output, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return ["timeout", "-", "-", "-", "-"]
    own = "\n".join(line for line in output.splitlines() if not line.startswith("========="))
    last = own.splitlines()[-1] if own else "-"
    summary = SUMMARY.search(output)
    count = " ".join(filter(None, summary.groups()[1:])) if summary else ("-" if tool == "plain" else "no summary")
    return [str(process.returncode), hashlib.sha256(own.encode()).hexdigest()[:12], last, count, messages(output) or "-"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("tools")
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--limit", type=float, default=220)
    args = parser.parse_args()
    deadline = time.time() + args.limit
    late = [name for name in (args.binaries / "last.txt").read_text().split()]
    programs = sorted(p for p in args.binaries.iterdir() if os.access(p, os.X_OK) and p.suffix == "")
    programs.sort(key=lambda p: p.name in late)
    for tool in args.tools.split(","):
        begun = time.time()
        done = args.binaries / f"done_{tool}.txt"
        chosen = [p for p in programs if not done.exists() or p.name not in done.read_text().split()]
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            rows = list(pool.map(lambda p: run(tool, p, deadline), chosen))
        with open(args.out / f"{tool}.tsv", "w") as file:
            for program, row in zip(chosen, rows):
                print("\t".join([program.name, *(row or ["not run"])]), file=file)
        print(f"{tool}: {sum(r is not None for r in rows)} of {len(rows)} in {time.time() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
