# SPDX-License-Identifier: Apache-2.0
"""A virtual Hopper GPU in a CPU process. This package holds the program `understudy`, its libraries, and a pytest plugin."""
import os
import shutil

_HERE = os.path.dirname(os.path.abspath(__file__))


def program():
    """The path of the program `understudy`: of this package, or else the one that UNDERSTUDY_PROGRAM or PATH name."""
    own = os.path.join(_HERE, "bin", "understudy")
    if os.path.exists(own):
        return own
    found = os.environ.get("UNDERSTUDY_PROGRAM") or shutil.which("understudy")
    if not found:
        raise FileNotFoundError("understudy: the program is neither in this package nor on PATH")
    return found


def main():
    import sys

    path = program()
    os.execv(path, [path, *sys.argv[1:]])
