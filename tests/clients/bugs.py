# SPDX-License-Identifier: Apache-2.0
"""Programs with a fault, and the same mended: bugs_CLIENT.py CASE bad|good.

A line with the fault ends in `# BUG(CASE): CHECK`, or `// BUG(CASE): CHECK` in CUDA C++. `python bugs.py UNDERSTUDY FILE [CASE...]` runs each case of
a file both ways under `understudy check`: the bad one must have an error, or a warning, of that check that names a line so marked, and none of
another check than the marks say; the good one must have no error or warning at all."""
import json
import os
import re
import subprocess
import sys
import tempfile

cases = {}


def case(function):
    cases[function.__name__] = function
    return function


def main():
    if len(sys.argv) < 3:
        print("\n".join(cases))
    else:
        cases[sys.argv[1]](sys.argv[2] == "bad")


def places(finding):
    for party in finding["parties"]:
        for frame in party["frames"]:
            yield os.path.basename(frame["file"]), frame["line"]


def judge(understudy, file, name, how, marks):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        command = [understudy, "check", "--json", report, sys.executable, file, name, how]
        run = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if not os.path.exists(report):
            return f"no report: {run.stderr[-400:]}"
        with open(report) as text:
            told = [f for f in json.load(text)["findings"] if f["severity"] in ("error", "warning")]
    seen = sorted({f["check"] for f in told})
    if how == "good":
        ends = "" if run.returncode == 0 else f"ends with {run.returncode}: {run.stderr[-600:]}"
        return f"reports {', '.join(seen)}" if seen else ends
    wanted = {check for check, _ in marks}
    at = {(f["check"], line) for f in told for base, line in places(f) if base == os.path.basename(file)}
    if not any(mark in at for mark in marks):
        return f"wanted {sorted(marks)}, got {seen} at {sorted(at)}; {run.stderr[-300:] if not seen else ''}"
    more = [check for check in seen if check not in wanted]
    return f"reports {', '.join(more)} as well" if more else ""


def judge_all(understudy, file, names):
    marks = {}
    with open(file) as text:
        for number, line in enumerate(text, 1):
            for name, checks in re.findall(r"(?:#|//) BUG\((\w+)\): ([\w, -]+)", line):
                marks.setdefault(name, set()).update((check.strip(), number) for check in checks.split(","))
    good = 0
    for name in names or marks:
        for how in ("bad", "good"):
            why = judge(understudy, file, name, how, marks[name])
            good += not why
            print(f"{'pass' if not why else 'FAIL'} {name} {how}{': ' if why else ''}{why}", flush=True)
    print(f"{good} of {2 * len(names or marks)} pass")
    return good != 2 * len(names or marks)


if __name__ == "__main__":
    sys.exit(judge_all(sys.argv[1], sys.argv[2], sys.argv[3:]))
