# SPDX-License-Identifier: Apache-2.0
"""Sends a Cython module's calls of the static CUDA runtime to Understudy's.

A Cython module lists the C functions it offers to others in `__pyx_capi__`, by name and signature. Those of
cuda.bindings are `_cudaMalloc` and so on: the arguments of cudaMalloc, and its result. The first bytes of each become

    ff 25 00 00 00 00   jmp *0(%rip)
    8 bytes             a way on

and that, in memory of its own,

    41 ba 4 bytes       mov $number, %r10d
    ff 25 00 00 00 00   jmp *0(%rip)
    8 bytes             the second way into our cudaMalloc (cuda/calling_runtime.h)

The number tells the runtimes of a process apart: each has a last error of its own.
"""
import ctypes
import itertools
import mmap
import re
import sys

JUMP = 14
WAY_ON = 20
SECOND_WAY_IN = 16
numbers = itertools.count(1)
ways = []  # they stay as long as the process
# Names that the headers of CUDA 12 turn into others.
RENAMED = {"cudaGetDeviceProperties": "cudaGetDeviceProperties_v2"}
# What the bindings do themselves, without the runtime.
OWN = ("cudaGraphics", "cudaEGL", "cudaVDPAU", "cudaGL", "getLocalRuntimeVersion")


def addresses(module):
    """Name of the runtime's function -> address of the module's, for all it lists."""
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    out = {}
    for name, capsule in getattr(module, "__pyx_capi__", {}).items():
        function = name.removeprefix("_static_").lstrip("_")
        if re.fullmatch(r"cuda[A-Z]\w*", function) and not function.startswith(OWN):
            out[function] = pointer_of(capsule, name_of(capsule))
    return out


def our_runtime(major):
    try:
        return ctypes.CDLL(f"libcudart.so.{major}")
    except OSError:
        return None


def address_in(library, name):
    function = getattr(library, name, None)
    return ctypes.cast(function, ctypes.c_void_p).value if function is not None else None


def jump(to):
    return b"\xff\x25\0\0\0\0" + to.to_bytes(8, "little")


def ways_on(targets):
    """Where each of the functions can be reached with the number of one more runtime."""
    number = b"\x41\xba" + next(numbers).to_bytes(4, "little")
    room = mmap.mmap(-1, max(1, len(targets)) * WAY_ON, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                     prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    ways.append(room)
    room.write(b"".join(number + jump(to + SECOND_WAY_IN) for to in targets))
    begin = ctypes.addressof(ctypes.c_char.from_buffer(room))
    return [begin + n * WAY_ON for n in range(len(targets))]


def make_writable(at, writable):
    page = mmap.PAGESIZE
    start = at // page * page
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    rights = mmap.PROT_READ | mmap.PROT_EXEC | (mmap.PROT_WRITE if writable else 0)
    return protect(start, (at + JUMP - start + page - 1) // page * page, rights) == 0


def warn(module, what):
    print(f"understudy: the CUDA runtime inside {module.__name__} is not sent to ours: {what}", file=sys.stderr)
    return 0


def redirect(module):
    import cuda.bindings

    major = int(cuda.bindings.__version__.split(".")[0])
    runtime = our_runtime(major)
    found = addresses(module)
    if runtime is None or not found:
        what = f"libcudart.so.{major} is not here" if runtime is None else "it lists no functions of the runtime"
        return warn(module, what)
    per_thread = module.__name__.endswith("_ptds")
    jumps = {}
    in_order = sorted(found.values())
    after = dict(zip(in_order, in_order[1:]))
    for name, at in found.items():
        if after.get(at, at + JUMP) - at < JUMP:
            continue
        ours = RENAMED.get(name, name) if major == 12 else name
        names = [ours + "_ptsz", ours + "_ptds", ours] if per_thread else [ours]
        to = next(filter(None, (address_in(runtime, n) for n in names)), None)
        if to is not None:
            jumps[at] = to
    done = 0
    for at, to in zip(jumps, ways_on(jumps.values())):
        if make_writable(at, True):
            ctypes.memmove(at, jump(to), JUMP)
            make_writable(at, False)
            done += 1
    return done or warn(module, "none of its functions could be redirected")
