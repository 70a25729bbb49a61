#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the twins of a family and runs them on the virtual device.

With the verb `run` a fake must end with exit code 0 and say "ok", a hit that ends by itself must end with 0. With the
verb `check` the findings are compared with the expect comments as well.

usage: run_twins.py [--family F] [--twin NAME] [--only hit|fake] [--verb run|check] [--build DIR] [--nvcc NVCC]
                    [--binaries DIR] [--jobs N]
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import bundles  # noqa: E402
import twins  # noqa: E402

SECONDS = 60
ERROR_EXIT = 120


def build(twin, nvcc, folder):
    """The twin's program, built when its sources are newer; an error text instead of None if that fails."""
    program = folder / twin.name
    sources = [twin.path, *twins.ROOT.glob("*.h")]
    if program.exists() and program.stat().st_mtime > max(s.stat().st_mtime for s in sources):
        return program, None
    flags = twins.FLAGS + twin.notes.get("flags", "").split()
    made = folder / f"{twin.name}.alone"  # the program may be a link to a bundle
    done = subprocess.run([nvcc, *flags, str(twin.path), "-o", str(made)], capture_output=True, text=True)
    if done.returncode:
        return program, done.stderr
    made.replace(program)
    return program, None


def lines_of(finding, file):
    """For each party of a finding the lines of the twin that its stack of inlined calls names."""
    for party in finding["parties"]:
        yield {f["line"] for f in party["frames"] if os.path.basename(f["file"]) == file}


def covers(finding, name, lines, file):
    """Whether the finding has that name and every expected line is one of its parties."""
    parties = list(lines_of(finding, file))
    return finding["check"] == name and all(any(line in p for p in parties) for line in lines)


def place_of(party):
    return f"{os.path.basename(party['frames'][0]['file'])}:{party['frames'][0]['line']}" if party["frames"] else "?"


def compare(twin, findings, severity):
    """Complaints: expected findings that are missing, and findings that nobody expects."""
    complaints, left = [], list(findings)
    for name, lines in twin.expected:
        match = [f for f in left if covers(f, name, lines, twin.path.name)]
        if not match:
            complaints.append(f"not reported: {name} at line {', '.join(map(str, sorted(lines)))}")
        left = [f for f in left if f not in match]
    for f in left:
        if f["check"] not in twin.may:
            where = ", ".join(place_of(p) for p in f["parties"])
            complaints.append(f"not expected: {f['check']} ({severity.get(f['check'], 'no such check')}) at {where}")
    return complaints


def judge_exit(twin, verb, severity, code, output):
    errors = verb == "check" and any(severity[name] == "error" for name, _ in twin.expected)
    if errors:
        return [] if code == ERROR_EXIT else [f"exit code {code}, not {ERROR_EXIT}"]
    if code != 0:
        return [f"exit code {code}: {output.strip()[-400:]}"]
    return [] if twin.is_hit or output.splitlines()[-1:] == ["ok"] else [f"said {output.strip()[-200:]!r}, not 'ok'"]


def judge(twin, program, args, severity):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "findings.json"
        more = ["--json", str(report)] + twin.notes.get("options", "").split() if args.verb == "check" else []
        more += ["--device", "h200,h200"] if "needs" in twin.notes else []
        command = [str(args.build / "bin" / "understudy"), args.verb, *more, str(program)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return [f"still running after {SECONDS} s"]
        complaints = judge_exit(twin, args.verb, severity, done.returncode, done.stdout)
        if args.verb == "check":
            findings = json.loads(report.read_text())["findings"] if report.exists() else []
            complaints += compare(twin, findings, severity)
        return complaints


def known_misses():
    lines = (twins.ROOT / "misses.txt").read_text().splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--family")
    parser.add_argument("--twin")
    parser.add_argument("--only", choices=["hit", "fake"])
    parser.add_argument("--verb", choices=["run", "check"], default="run")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--binaries", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    folder = args.binaries or args.build / "tests" / "sanitizer"
    folder.mkdir(parents=True, exist_ok=True)
    severity = {name: row[0] for name, row in twins.checks().items()}
    chosen = [t for t in twins.all_twins() if args.family in (None, t.family) and (args.twin or "") in t.name]
    if args.only:
        chosen = [t for t in chosen if t.is_hit == (args.only == "hit")]
    if args.verb == "run":
        chosen = [t for t in chosen if t.terminates]

    def one(twin):
        program, error = build(twin, args.nvcc, folder)
        return [error] if error else judge(twin, program, args, severity)

    missed = known_misses() if args.verb == "check" else set()
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for family in [] if args.twin else sorted({t.family for t in chosen}):
            bundles.build_family(family, args.nvcc, folder, pool)
        for twin, complaints in zip(chosen, pool.map(one, chosen)):
            if twin.source in missed:
                complaints = [] if complaints else ["is judged right: take it off misses.txt"]
            bad += bool(complaints)
            for complaint in complaints:
                print(f"{twin.source}: {complaint}")
    print(f"{len(chosen)} twins, {bad} wrong")
    return 1 if bad or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
