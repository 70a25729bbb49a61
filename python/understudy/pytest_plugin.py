# SPDX-License-Identifier: Apache-2.0
"""pytest --understudy: the tests run under the virtual device. pytest --understudy=check: its findings fail them.

pytest starts anew under `understudy run`, which must be there before Python loads anything. With `check` every finding
is written to a file as it is found; behind each phase of a test the device is awaited and what is new is that test's.
"""
import ctypes
import glob
import json
import os
import subprocess
import sys
import tempfile

import pytest

import understudy

HAS_ERRORS = 120  # exit code of `understudy check`
STARTED = "UNDERSTUDY_PYTEST"  # names the directory of findings, or is "run"


def pytest_addoption(parser):
    parser.getgroup("understudy").addoption(
        "--understudy",
        nargs="?",
        const="run",
        metavar="check",
        help="run under the virtual device; check: what the tests do wrong with CUDA fails them",
    )


def chosen(option, arguments):
    """The mode, and the arguments with it written out: what follows a bare --understudy is no value of it. In addopts and
    PYTEST_ADDOPTS, which are read again at the new start, it has to be written out."""
    modes = {"--understudy": "run", "--understudy=run": "run", "--understudy=check": "check"}
    for at, argument in enumerate(arguments):
        if argument in modes:
            return modes[argument], [*arguments[:at], f"--understudy={modes[argument]}", *arguments[at + 1 :]]
    if option in modes.values():
        return option, arguments
    raise pytest.UsageError(
        "--understudy: expected --understudy=run or --understudy=check (as an argument also --understudy, which is run)"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    if not config.getoption("--understudy") or os.environ.get(STARTED):
        return None
    mode, arguments = chosen(config.getoption("--understudy"), [str(a) for a in config.invocation_params.args])
    if mode == "check" and config.getoption("numprocesses", None):
        raise pytest.UsageError("--understudy=check: findings cannot be told apart by test with several processes (-n)")
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture:
        capture.stop_global_capturing()
    command = [understudy.program(), "run"]
    os.environ[STARTED] = mode
    if mode == "run":
        os.execv(command[0], [*command, sys.executable, "-m", "pytest", *arguments])
    with tempfile.TemporaryDirectory(prefix="understudy.") as directory:
        os.environ[STARTED] = directory
        return subprocess.call([*command, "--check-to", directory, sys.executable, "-m", "pytest", *arguments])


def await_device():
    """Until the work of this process is done, if it has a context: other tests' work is not this one's."""
    try:
        driver = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD)
    except OSError:
        return
    context = ctypes.c_void_p()
    if driver.cuCtxGetCurrent(ctypes.byref(context)) == 0 and context.value:
        driver.cuCtxSynchronize()


class Findings:
    def __init__(self, directory):
        self.directory, self.bytes, self.known = directory, {}, {}

    def files(self):
        return sorted(glob.glob(os.path.join(self.directory, "*.findings")))

    def new(self):
        """Findings that are there, or happened again, since the last call."""
        out = []
        for file in self.files():
            size = os.path.getsize(file)
            if size == self.bytes.get(file):
                continue
            self.bytes[file] = size
            for finding in read(file):
                key = file, json.dumps({k: v for k, v in finding.items() if k not in ("times", "blocks")}, sort_keys=True)
                if self.known.get(key, 0) < finding["times"]:
                    self.known[key] = finding["times"]
                    out.append(finding)
        return out


def read(file):
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        result = subprocess.run(
            [understudy.program(), "check", "--read", file, "--json", report.name],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={k: v for k, v in os.environ.items() if k not in ("LD_AUDIT", "UNDERSTUDY_CHECK")},
            check=False,
        )
        if result.returncode not in (0, HAS_ERRORS):
            raise RuntimeError(f"understudy check --read {file} failed with {result.returncode}: {result.stderr}")
        return json.loads(report.read())["findings"]


def place(party):
    frames = party.get("frames") or []
    if frames:
        f = frames[0]
        return f"{f['file']}:{f['line']}: in {f['function']}" if f.get("line") else f["function"]
    return f"PTX line {party['ptx_line']}" if party.get("ptx_line") else ""


def describe(finding):
    lines = [f"{finding['severity']}: {finding['sentence']} [{finding['check']}]"]
    if finding.get("object"):
        lines.append("  " + finding["object"])
    if finding.get("kernel"):
        lines.append("  kernel " + finding["kernel"])
    for party in finding.get("parties", []):
        lines.append(f"  {place(party)}: {party.get('action', '')} {party.get('who', '')} {party.get('instruction', '')}".rstrip())
    lines += ["  " + sentence for sentence in finding.get("why", [])]
    if finding.get("fix"):
        lines.append("  Fix: " + finding["fix"])
    return "\n".join(lines)


def findings_of(config):
    directory = os.environ.get(STARTED)
    if not directory or directory == "run":
        return None
    if not hasattr(config, "_understudy_findings"):
        config._understudy_findings = Findings(directory)
    return config._understudy_findings


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    findings = findings_of(item.config)
    if findings is None:
        return
    await_device()
    new = findings.new()
    if not new:
        return
    report = outcome.get_result()
    text = "\n\n".join(describe(f) for f in new)
    if any(f["severity"] == "error" for f in new) and report.passed:
        report.outcome = "failed"
        report.longrepr = text
    else:
        report.sections.append(("understudy check", text))
