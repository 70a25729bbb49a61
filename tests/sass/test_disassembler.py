#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our reading of machine code against the toolkit's disassembler, for all PTX of the tests and all programs that are built: the
text of every instruction (names, operands, reuse, branch targets), the registers that instructions read and write, and PTX lines.
nvdisasm is $US_NVDISASM, on PATH, or beside ptxas (pip install nvidia-cuda-nvdisasm). usage: test_disassembler.py BUILD SOURCE"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
UNDERSTUDY, LINES = BUILD / "bin/understudy", BUILD / "bin/sass_lines"
HOMES = [os.environ[v] + "/bin" for v in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(v)] + ["/usr/local/cuda/bin"]


def tool(name, variable):
    return os.environ.get(variable) or shutil.which(name) or shutil.which(name, path=os.pathsep.join(HOMES))


NVDISASM, PTXAS = tool("nvdisasm", "US_NVDISASM"), tool("ptxas", "US_PTXAS")
# nvdisasm also counts the predicate of a filling copy as written.
KNOWN = re.compile(r"LDGSTS\S*\.ZFILL")


def plain(text):
    """Blanks and comments are the disassembler's own."""
    return re.sub(r"\s*(\(\*.*)?$", "", re.sub(r"\s+", " ", text).replace(" ,", ","))


def ours(words):
    with tempfile.NamedTemporaryFile() as f:
        f.write(b"".join(struct.pack("<QQ", *w) for w in words))
        f.flush()
        lines = subprocess.run([LINES, f.name], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split("\t") for line in lines]


def theirs(words):
    with tempfile.NamedTemporaryFile() as f:
        f.write(b"".join(struct.pack("<QQ", *w) for w in words))
        f.flush()
        out = subprocess.run([NVDISASM, "-b", "SM90a", "-ndf", f.name], capture_output=True, text=True, check=True).stdout
    return {int(a, 16): plain(t) for a, t in re.findall(r"/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;", out)}


def modules(path):
    run = subprocess.run([UNDERSTUDY, "ptx", "--sass", "--json", path], capture_output=True, text=True)
    if run.returncode not in (0, 1):
        return []
    return [m for m in json.loads(run.stdout)["modules"] if not m["problems"]]


def words_of(path):
    return {(int(i["word"][16:], 16), int(i["word"][:16], 16)) for m in modules(path) for f in m["functions"]
            for i in f["instructions"]}


def cubin_of(ptx, folder):
    out = pathlib.Path(folder) / (ptx.stem + ".cubin")
    made = subprocess.run([PTXAS, "-arch=sm_90a", "-lineinfo", ptx, "-o", out], capture_output=True)
    return out if made.returncode == 0 else None


def life_ranges(cubin):
    """(word, text, read, written) of each instruction; one column per register: v read, ^ written, x both."""
    out = subprocess.run([NVDISASM, "-c", "-hex", "-plr", "-lrm", "narrow", cubin], capture_output=True, text=True).stdout
    banks = begins = row = None
    for line in out.splitlines():
        columns = line[line.index("// |") + 4:].split("|")[:-1] if "// |" in line else None
        if columns and "GPR" in line:
            banks = [{"GPR": "R", "PRED": "P", "UGPR": "UR", "UPRED": "UP"}[c.strip()] for c in columns]
        elif columns and "#" in line:
            begins = [c.index("#") + 2 for c in columns]
        elif m := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?);.*/\* 0x([0-9a-f]{16}) \*/", line):
            row = (plain(m[1]), int(m[2], 16))
        elif (m := re.match(r"\s*/\* 0x([0-9a-f]{16}) \*/", line)) and row and columns:
            sets = {"v": set(), "^": set()}
            for bank, begin, column in zip(banks, begins, columns):
                for number, mark in enumerate(column[begin:]):
                    for kind in {"v": "v", "^": "^", "x": "v^"}.get(mark, ""):
                        sets[kind].add(f"{bank}{number}")
            yield (row[1], int(m[1], 16)), row[0], sets["v"], sets["^"]


class Disassembler(unittest.TestCase):
    maxDiff = None

    def test_text_of_every_instruction(self):
        files = sorted(SOURCE.glob("tests/**/*.ptx")) + sorted((BUILD / "programs").glob("*"))
        files = [f for f in files if f.is_file() and not f.name.endswith(".d")]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            words = sorted(set().union(*pool.map(words_of, files)))
        self.assertGreater(len(words), 1000, "nothing was assembled")
        mine, expected = ours(words), theirs(words)
        unknown = [w for w in mine if w[2]]
        wrong = [(expected.get(int(w[0], 16)), w[1]) for w in mine if plain(w[1]) != expected.get(int(w[0], 16))]
        print(f"{len(words)} different instructions of {len(files)} files, {len(unknown)} not known, {len(wrong)} not equal")
        self.assertEqual(wrong[:20], [])
        self.assertEqual(unknown[:20], [])

    def test_registers_and_lines(self):
        count = 0
        with tempfile.TemporaryDirectory() as folder:
            for ptx in sorted((SOURCE / "tests/ptx").glob("*/*.ptx"))[::4]:
                if not (cubin := cubin_of(ptx, folder)):
                    continue
                rows = list(life_ranges(cubin))
                for (_, text, read, written), (_, _, _, reads, writes) in zip(rows, ours([r[0] for r in rows])):
                    if re.search(r"\b(CALL|RET)\b", text) or KNOWN.search(text):
                        continue
                    count += 1
                    no_barriers = lambda names: {n for n in names.split() if n[0] != "B"}
                    self.assertEqual((no_barriers(reads), no_barriers(writes)), (read, written), f"{ptx.name}: {text}")
                self.check_lines(cubin)
        self.assertGreater(count, 500)

    def check_lines(self, cubin):
        """The PTX line of every instruction, as `nvdisasm -gp` says it."""
        expected, name, line = {}, None, 0
        for text in subprocess.run([NVDISASM, "-c", "-gp", cubin], capture_output=True, text=True).stdout.splitlines():
            if m := re.match(r"//-+ \.text\.(\S+)", text):
                name, line = m[1], 0
            elif m := re.match(r'\s*//## File ".*", line (\d+)', text):
                line = int(m[1])
            elif m := re.match(r"\s*/\*([0-9a-f]{4,})\*/", text):
                expected[name, int(m[1], 16)] = line
        mine = {(f["name"], i["offset"]): i.get("ptx_line", 0) for m in modules(cubin) for f in m["functions"]
                for i in f["instructions"]}
        self.assertEqual(mine, expected, cubin.name)


if __name__ == "__main__":
    if not NVDISASM or not PTXAS:
        print("skipped: needs nvdisasm and ptxas of the CUDA toolkit")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
