#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes one table of what record.py wrote: a row for each twin, findings of each tool.

usage: merge.py FOLDER...     later folders win; what was not run or ran out of time does not replace an answer
"""
import pathlib
import sys

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")


def read(folders, tool):
    rows = {}
    for folder in folders:
        path = pathlib.Path(folder) / f"{tool}.tsv"
        for line in path.read_text().splitlines() if path.exists() else []:
            name, *cells = line.split("\t")
            answer = cells[0] not in ("not run", "timeout")
            if answer or (tool == "plain" and cells[0] == "timeout" and name not in rows):
                rows[name] = cells
    return rows


def main():
    plain = read(sys.argv[1:], "plain")
    tools = {tool: read(sys.argv[1:], tool) for tool in TOOLS}
    print("\t".join(["twin", "exit", "output", "says", *TOOLS, "first messages"]))
    for name, (code, output, says, *_) in sorted(plain.items()):
        counts = [tools[tool][name][3].split()[0] if name in tools[tool] else "-" for tool in TOOLS]
        texts = [f"{tool}: {tools[tool][name][4]}" for tool in TOOLS if name in tools[tool] and tools[tool][name][4] != "-"]
        print("\t".join([name, code, output, says, *counts, "; ".join(texts)[:240] or "-"]))


if __name__ == "__main__":
    main()
