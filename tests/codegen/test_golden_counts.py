#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Host instructions of the kernels of bench/, for two processors by name, against golden_counts.txt.

Exit code 77: nvcc is missing, or it or LLVM is not of the version that the table names."""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
BENCH = HERE.parents[1] / "bench"
sys.path.insert(0, str(BENCH))
import driver

TABLE = HERE / "golden_counts.txt"
CPUS = ["x86-64-v4", "x86-64-v3"]  # with vectors of 512 and of 256 bits
SKIP = 77


def skip(text):
    print(f"golden_counts: skipped: {text}")
    sys.exit(SKIP)


def nvcc_version(nvcc):
    try:
        text = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        skip(f"nvcc is needed for the kernels of bench/, and `{nvcc}` cannot be run")
    return re.search(r", V([\d.]+)", text)[1]


def block_of(kernel):
    """The block that bench/run launches the kernel with."""
    constants = {}
    for name, value in re.findall(r"\b(k\w+) = ([^,}]+)", (BENCH / "kernels" / kernel / "size.h").read_text()):
        constants[name] = eval(value.replace("/", "//"), {}, constants)
    sizes = re.search(r"launch\(\) const \{ return \{.*\}, \{([^}]*)\}\};", (BENCH / "kernels" / kernel / "problem.h").read_text())
    return [str(eval(size, {}, constants)) for size in sizes[1].split(",")]


def instructions(assembly):
    """By function: lines of code, which begin with a tab and no dot."""
    count, function = {}, None
    for line in assembly.splitlines():
        if begin := re.match(r"\t\.type\t([^,]+),@function", line):
            function = begin[1]
            count[function] = 0
        elif line.startswith(".Lfunc_end"):
            function = None
        elif function and re.match(r"\t[a-z]", line):
            count[function] += 1
    return count


def measure(options, folder):
    rows = {}
    for source in sorted((BENCH / "kernels").glob("*/kernel.cu")):
        kernel = source.parent.name
        ptx = folder / f"{kernel}.ptx"
        subprocess.run([options.nvcc, "-std=c++17", "-O3", "-lineinfo", "-arch=compute_90", "-ptx", "-I", BENCH, "-I",
                        source.parent, source, "-o", ptx], check=True)
        for cpu in CPUS:
            done = subprocess.run([options.build / "bin" / "jitdump", ptx, "--cpu", cpu, "--usual", "--block",
                                   *block_of(kernel), "--dump", "asm"], capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"golden_counts: {kernel} does not compile:\n{done.stderr[-2000:]}")
            for function, n in instructions(done.stderr).items():
                rows[kernel, ",".join(block_of(kernel)), cpu, function] = n
    return rows


def write(rows, versions):
    head = ["# Instructions of the code that the kernels of bench/ become, by processor and function; `general` is the way of",
            "# numbers that an approximate operation has no short way for. Written by", f"#   {command()}", "#",
            "# A change of these numbers stands in the commit that makes it, with the reason.", versions]
    line = "{:16} {:10} {:10} {:24} {:>8}".format
    body = [line("# kernel", "block", "processor", "function", "count"), *(line(*key, n) for key, n in sorted(rows.items()))]
    TABLE.write_text("\n".join(head + body) + "\n")


def read():
    lines = TABLE.read_text().splitlines()
    words = [line.split() for line in lines if line and not line.startswith("#")]
    return next(l for l in lines if l.startswith("# nvcc ")), {tuple(w[:-1]): int(w[-1]) for w in words}


def command():
    return "tests/codegen/test_golden_counts.py --update"


def compare(expected, found):
    """Prints what differs; how many."""
    different = [key for key in sorted({*expected, *found}) if expected.get(key) != found.get(key)]
    if different:
        print(f"{'kernel':16} {'processor':10} {'function':24} {'table':>8} {'now':>8}")
    for key in different:
        old, new = expected.get(key), found.get(key)
        change = f"{100 * (new - old) / old:+8.1f} %" if old and new else ""
        print(f"{key[0]:16} {key[2]:10} {key[3]:24} {old or '-':>8} {new or '-':>8} {change}")
    return len(different)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--build", type=pathlib.Path, default=HERE.parents[1] / "build")
    p.add_argument("--nvcc", default=driver.find_nvcc() or "nvcc")
    p.add_argument("--update", action="store_true", help="write the table")
    options = p.parse_args()
    versions = f"# nvcc {nvcc_version(options.nvcc)}, LLVM {(options.build / 'llvm_version.txt').read_text().strip()}"
    expected_versions, expected = read() if not options.update else ("", {})
    if not options.update and expected_versions != versions:
        skip(f"the table was written with {expected_versions[2:]}; here is {versions[2:]}")
    with tempfile.TemporaryDirectory() as folder:
        found = measure(options, pathlib.Path(folder))
    if options.update:
        write(found, versions)
    elif compare(expected, found):
        sys.exit(f"golden_counts: if the change is meant, write the table anew: {command()}")
    print(f"{len(found)} functions counted")


main()
