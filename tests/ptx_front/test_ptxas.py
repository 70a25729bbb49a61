#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every .ptx below tests/ goes through ptxas for sm_90a, but those of refused_by_ptxas.txt, which it must refuse.

usage: test_ptxas.py [NVCC]   ptxas lies beside nvcc, or is in $PATH; exit code 77 when it is missing."""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent
SKIP = 77


def find_ptxas():
    beside = pathlib.Path(sys.argv[1]).resolve().parent / "ptxas" if len(sys.argv) > 1 else None
    return beside if beside and os.access(beside, os.X_OK) else shutil.which("ptxas")


def refusal(ptxas, file):
    """What ptxas says against the file; empty when it takes it."""
    linked_later = ["-c"] if ".extern .func" in file.read_text() else []
    done = subprocess.run([ptxas, *linked_later, "-arch=sm_90a", "-o", os.devnull, file], capture_output=True, text=True)
    return (done.stderr or done.stdout or "refused") if done.returncode else ""


def judge(name, text, reasons):
    if text and name not in reasons:
        return f"{name} is refused:\n{text}"
    if not text and name in reasons:
        return f"{name} is taken; refused_by_ptxas.txt says: {reasons[name]}"
    return ""


def main():
    ptxas = find_ptxas()
    if not ptxas:
        print("ptxas is not here: skipped")
        sys.exit(SKIP)
    lines = (HERE / "refused_by_ptxas.txt").read_text().splitlines()
    reasons = dict(line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))
    files = sorted(TESTS.rglob("*.ptx"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(pool.map(lambda f: refusal(ptxas, f), files))
    names = [str(f.relative_to(TESTS)) for f in files]
    wrong = [w for name, text in zip(names, said) if (w := judge(name, text, reasons))]
    wrong += [f"refused_by_ptxas.txt names {name}, which is not there" for name in reasons if name not in names]
    print("\n".join(wrong + [f"{len(files)} files, {len(reasons)} of them to be refused, {len(wrong)} complaints"]))
    sys.exit(1 if wrong or not files else 0)


main()
