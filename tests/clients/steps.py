# SPDX-License-Identifier: Apache-2.0
"""Steps of a client's program, each judged by itself: all are run, those that fail are named, and counted."""
import sys

passed, failed = [], []


def step(function):
    try:
        function()
    except Exception as e:  # a client's own kinds of errors
        failed.append(function.__name__)
        print(f"FAIL {function.__name__}: {type(e).__name__}: {' '.join(str(e).split())[:300]}", flush=True)
    else:
        passed.append(function.__name__)
    return function


def finish():
    print(f"{len(passed)} of {len(passed) + len(failed)} steps pass")
    sys.exit(1 if failed else 0)
