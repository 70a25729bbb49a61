#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: accesses.sh OUT: records what Nsight Compute counts of each launch of accesses.cu, on a machine with a GPU.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
metrics=smsp__inst_executed.sum
metrics=$metrics,l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum
metrics=$metrics,l1tex__data_pipe_lsu_wavefronts_mem_lg.sum,l1tex__t_requests_pipe_lsu.sum
metrics=$metrics,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
metrics=$metrics,l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum
metrics=$metrics,memory_l1_wavefronts_shared,memory_l1_wavefronts_shared_ideal
metrics=$metrics,memory_l2_theoretical_sectors_global,memory_l2_theoretical_sectors_global_ideal,memory_l1_tag_requests_global
nvcc -arch=sm_90a -O3 -o "$work/accesses" "$here/accesses.cu"
"$work/accesses" >"$work/launches"
ncu --clock-control none --cache-control none --csv --page raw --metrics "$metrics" "$work/accesses" >"$work/raw"
python3 - "$work/launches" "$work/raw" "$1" <<'PYTHON'
import csv, sys
launches = open(sys.argv[1]).read().split("\n")[:-1]
lines = [l for l in open(sys.argv[2]) if l.startswith('"')]
rows = list(csv.reader(lines))
asked = ("smsp__inst_executed.sum", "l1tex__", "memory_")
names = [n for n in rows[0] if n.startswith(asked) and not n.endswith((".avg", ".max", ".min"))]
index = [rows[0].index(n) for n in names]
rows = [r for r in rows[2:]]
assert len(rows) == len(launches), (len(rows), len(launches))
with open(sys.argv[3], "w") as out:
    print("# launch |", " ".join(names), file=out)
    for launch, row in zip(launches, rows):
        print(launch, "|", *(row[i] for i in index), file=out)
PYTHON
