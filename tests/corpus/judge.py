# SPDX-License-Identifier: Apache-2.0
"""What a finished program's output, exit code and fidelity report say: pass, wrong, crash, timeout or unsupported:NAME."""
import re

GOOD = re.compile(r"\bpass(ed)?\b|\bsuccess(ful|fully)?\b|\bverified\b|\bcorrect\b|\bOK\b|\bmatch(es)?\b", re.I)
BAD = re.compile(r"\bfail(ed|ure|s)?\b|\bmismatch|\bincorrect\b|\bnot ok\b|\bwrong\b|\bdoes not match\b|CUDA ?error|cudaError|CUDA_ERROR|GPUassert"
                 r"|\berror at\b|\bDiff(erence)? at\b|invalid argument|operation not supported", re.I)
NOT_BAD = re.compile(r"\b(no|0|without|any) (tests )?(error|fail|mismatch)|(fail\w*|mismatch\w*|errors?)\s*[:=]\s*0(\.0*)?\b|failure probability|not wrong|\bif\b[^=:]*\bfail|as expected|Assertion `|^failed tests:$", re.I)
POLYBENCH = re.compile(r"Non-Matching.*?:\s*(\d+)")
LOADER = re.compile(r"undefined symbol: (\w+)|cannot open shared object file|error while loading shared libraries: (\S+?):")
NO_INPUT = re.compile(r"(cannot|can't|could not|couldn't|unable to|failed to|error) (open|opening|read|load|find)\b|^usage\b|^options:|no such file|\bfile .{1,80} does not exist", re.I | re.M)
WAIVED = 2  # cuda-samples: the device lacks a feature


def unsupported(result, report):
    """The name of what the program asked for and did not get, or None."""
    loader = LOADER.search(result["stderr"])
    if loader:
        return next((g for g in loader.groups() if g), "a shared library")
    for kind in ("unimplemented", "stubbed_calls", "refused"):
        for name in report.get(kind, {}):
            return name
    return None


def bad_line(text):
    for line in text.splitlines():
        if BAD.search(line) and not NOT_BAD.search(line):
            return line.strip()[:160]
    return None


def judge(result, report, suite, must_fail=False):
    """(state, one line of reason)"""
    text = result["stdout"] + "\n" + result["stderr"]
    missing = unsupported(result, report)
    code = result["code"]
    last = next((line.strip() for line in reversed(result["stderr"].splitlines()) if line.strip()), "")[:160]
    if result["timed_out"] or code in (152, -24):  # SIGXCPU
        return "timeout", last
    if must_fail:
        return ("pass", "fails as it must") if code else ("wrong", "should have failed")
    if not report.get("counts", {}).get("grids launched") and not missing and NO_INPUT.search(text):
        return "no-input", NO_INPUT.search(text).group(0)
    counts = [int(n) for n in POLYBENCH.findall(text)]
    failed = bad_line(text) or (f"{max(counts)} elements differ" if any(counts) else None)
    if code == 0 and failed and GOOD.search(text) and not counts and suite == "cuda-samples":
        failed = None  # samples tell by the exit code
    if code == 0 and not failed:
        return "pass", "checked" if GOOD.search(text) or counts or suite in ("libcudacxx", "cuda-samples") else "prints only"
    if missing:
        return f"unsupported:{missing}", failed or f"exit code {code}"
    if code < 0 or code in (132, 134, 135, 136, 139):
        return "crash", f"signal {-code if code < 0 else code - 128}: {last}"
    if suite == "cuda-samples" and code == WAIVED:
        return "wrong", "waived: " + (failed or (result["stdout"].strip().splitlines() or [""])[-1][:140])
    return "wrong", failed or f"exit code {code}: {last}"
