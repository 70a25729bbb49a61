# SPDX-License-Identifier: Apache-2.0
"""What the programs here share: tools, building, running under Understudy, medians."""
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys

BENCH = pathlib.Path(__file__).resolve().parent
ROOT = BENCH.parent
BUILD = pathlib.Path(os.environ.get("UNDERSTUDY_BUILD", ROOT / "build")).resolve()
OUT = BUILD / "bench"
UNDERSTUDY = BUILD / "bin" / "understudy"
CACHE = OUT / "cache"

NVCC_FLAGS = ["-std=c++17", "-O3", "-lineinfo", "-gencode", "arch=compute_90,code=compute_90", "-cudart", "shared"]
NATIVE_FLAGS = ["-std=c++20", "-O3", "-march=native", "-ffast-math", "-fopenmp"]
OPENCL_FLAGS = ["-std=c++20", "-O2"]

KERNELS = ["saxpy", "copy_transform", "matmul", "reduction", "stencil3d", "histogram", "nbody", "black_scholes",
           "bitonic_sort", "transpose", "async_copy", "tensor_tile"]


def fail(text):
    sys.exit(f"bench: {text}")


def find_nvcc():
    for candidate in (os.environ.get("NVCC"), shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"):
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    return None


def ensure_packages(packages):
    """Installs the Debian packages that are missing."""
    query = ["dpkg-query", "-W", "-f", "${db:Status-Status}\n"]
    missing = [p for p in packages if "installed" not in
               subprocess.run(query + [p], capture_output=True, text=True).stdout.split()]
    if not missing:
        return
    command = (["sudo"] if os.geteuid() else []) + ["apt-get", "install", "-y", "--no-install-recommends"] + missing
    print("bench: installing", " ".join(missing), file=sys.stderr)
    if subprocess.run(command, stdout=sys.stderr).returncode:
        fail("could not install " + " ".join(missing))


def build(target, command, sources):
    """Runs `command` when `target` is older than a source or was built by another command."""
    record = target.with_suffix(target.suffix + ".command")
    text = " ".join(map(str, command))
    newest = max(s.stat().st_mtime for s in sources)
    if target.exists() and target.stat().st_mtime > newest and record.exists() and record.read_text() == text:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    print(f"bench: building {target.relative_to(OUT)}", file=sys.stderr)
    if subprocess.run(list(map(str, command))).returncode:
        fail(f"{target.name} does not build")
    record.write_text(text)


def build_kernel(kernel):
    """The CUDA version of one of KERNELS."""
    here = BENCH / "kernels" / kernel
    target, source = OUT / kernel / "understudy", here / "kernel.cu"
    build(target, [find_nvcc(), *NVCC_FLAGS, "-I", BENCH, "-I", here, source, "-o", target],
          [BENCH / "common.h", here / "size.h", here / "problem.h", source, BENCH / "host_cuda.cuh"])
    return target


def understudy_command(program, threads, arguments=()):
    return [UNDERSTUDY, "run", "--threads", threads, program, *arguments]


def environment(threads, cache=CACHE):
    cache.mkdir(parents=True, exist_ok=True)
    env = dict(os.environ)
    env.update(OMP_NUM_THREADS=str(threads), POCL_MAX_PTHREAD_COUNT=str(threads),
               POCL_CACHE_DIR=str(cache / "pocl"), UNDERSTUDY_CACHE=str(cache / "understudy"))
    (cache / "pocl").mkdir(exist_ok=True)
    return env


def _busy_seconds():
    fields = list(map(int, open("/proc/stat").readline().split()[1:9]))
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def _children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_json(command, env, timeout):
    """Runs a program that prints one JSON line. Returns (record or None, error text, CPU seconds others used / ours)."""
    busy, ours = _busy_seconds(), _children_seconds()
    try:
        done = subprocess.run(list(map(str, command)), env=env, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None, f"no result after {timeout} s", 0.0
    ours = _children_seconds() - ours
    foreign = max(0.0, _busy_seconds() - busy - ours) / max(ours, 1e-3)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        return None, (done.stderr.strip()[-2000:] or "no output") + f" (exit code {done.returncode})", foreign
    return json.loads(lines[-1]), "", foreign


def median(values):
    return statistics.median(values) if values else None


def geometric_mean(values):
    return statistics.geometric_mean(values) if values else None


def machine():
    names = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return {"cpu": names[0] if names else "unknown", "cores": os.cpu_count()}
