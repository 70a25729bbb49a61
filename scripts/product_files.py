# SPDX-License-Identifier: Apache-2.0
"""What a package of Understudy holds: used by build_wheel and build_deb."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NEEDED = ["libcuda.so.1", "libcudart.so.13", "libcudart.so.12", "libnvJitLink.so.13", "libnvJitLink.so.12", "libnvfatbin.so.13",
          "libnvfatbin.so.12", "libnvidia-ml.so.1",
          "libunderstudy_loader.so", "libunderstudy_clock.so", "libunderstudy_codegen.so", "understudy_standin"]
# The C and C++ libraries are the system's: the program's own libraries need them, too.
SYSTEM = re.compile(r"(ld-linux|linux-vdso|lib(c|m|dl|rt|pthread|util|resolv|stdc\+\+|gcc_s)\.so)")
ENTRY_POINTS = "[console_scripts]\nunderstudy = understudy:main\n\n[pytest11]\nunderstudy = understudy.pytest_plugin\n"
METADATA = """Metadata-Version: 2.1
Name: understudy
Version: {version}
Summary: A virtual Hopper GPU in a CPU process: CUDA programs run unmodified on a machine without one
License: {licence}
Requires-Python: >=3.9
"""


def fail(sentence):
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {sentence}")


def version():
    return re.search(r"project\(understudy VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def product(build):
    """File in the package -> file of the build."""
    lib = build / "lib"
    missing = [name for name in NEEDED if not (lib / name).exists()] + ["understudy"] * (not (build / "bin/understudy").exists())
    if missing:
        fail(f"{build} has no {', '.join(missing)}: cmake --build {build} --target product")
    files = {"understudy/bin/understudy": build / "bin" / "understudy"}
    for file in sorted(lib.iterdir()):
        if re.search(r"\.so(\.\d+)?$|^understudy_standin$", file.name) and not file.is_symlink():
            files[f"understudy/lib/{file.name}"] = file
    for file in sorted((lib / "understudy_python").glob("*.py")):
        files[f"understudy/lib/understudy_python/{file.name}"] = file
    for file in sorted((ROOT / "python" / "understudy").glob("*.py")):
        files[f"understudy/{file.name}"] = file
    files["understudy/LICENSE"] = ROOT / "LICENSE"
    for file in sorted((ROOT / "include").glob("*.h")):
        files[f"understudy/share/include/{file.name}"] = file
    files["understudy/share/cmake/UnderstudyTest.cmake"] = ROOT / "cmake" / "UnderstudyTest.cmake"
    return files


def is_binary(name):
    return ".so" in name or "/bin/" in name or name.endswith("/understudy_standin")


def libraries(files):
    """Names and paths of what the loader finds for them, without our own."""
    own, found = {f.name for f in files}, {}
    for file in files:
        out = subprocess.run(["ldd", str(file)], check=True, capture_output=True, text=True).stdout
        absent = [name for name in re.findall(r"(\S+) => not found", out) if name not in own]
        if absent:
            fail(f"{file} needs {', '.join(absent)}, which the loader does not find")
        for name, path in re.findall(r"(\S+) => (/\S+)", out):
            if name not in own:
                found[name] = pathlib.Path(path).resolve()
    return found
