#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: launches.sh PROGRAM.cu OUT: records what Nsight Compute measures of each launch of a program that
# prints a line for each, on a machine with a GPU. The program's source says which metrics ("// metrics: A,B")
# and what becomes of caches before each launch ("// caches: none" or "all").
set -eu
work=$(mktemp -d)
metrics=$(sed -n 's|^// metrics: ||p' "$1" | paste -sd,)
nvcc -arch=sm_90a -O3 -o "$work/program" "$1"
"$work/program" >"$work/launches"
ncu --clock-control none --cache-control "$(sed -n 's|^// caches: ||p' "$1")" --print-units base --csv --page raw --metrics "$metrics" \
  "$work/program" >"$work/raw"
python3 - "$work/launches" "$work/raw" "$metrics" "$2" <<'PYTHON'
import csv, sys
launches = open(sys.argv[1]).read().split("\n")[:-1]
lines = [l for l in open(sys.argv[2]) if l.startswith('"')]
rows = list(csv.reader(lines))
names = [n for n in rows[0] if n in sys.argv[3].split(",")]
index = [rows[0].index(n) for n in names]
rows = [r for r in rows[2:]]
assert len(rows) == len(launches), (len(rows), len(launches))
with open(sys.argv[4], "w") as out:
    print("# launch |", " ".join(names), file=out)
    for launch, row in zip(launches, rows):
        print(launch, "|", *(row[i].replace(",", "") for i in index), file=out)
PYTHON
