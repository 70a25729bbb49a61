# SPDX-License-Identifier: Apache-2.0
"""CuPy's calls of cuBLAS, cuSOLVER, cuSPARSE and cuRAND on a virtual device: computed by NumPy, on the device's memory as
it lies there. cuSPARSE and cuRAND are machine code; Understudy's own cuBLAS and cuSOLVER serve CuPy when this is off. CuPy's own Python stays as it is, with its checks and errors:

    cupy.linalg.solve ─▶ cupyx.lapack.gesv ─▶ cupy_backends.cuda.libs.cusolver.dgetrf(handle, n, n, pointer, ...)
                                                   └ replaced, by name, when that module is imported (sitecustomize.py)

A call waits for CuPy's current stream, and is done when it returns; during a capture it is refused, as CuPy itself refuses it. What
has no stand-in raises NotImplementedError by its name: the handles are no handles of the libraries. Random numbers are NumPy's
Philox, not cuRAND's. UNDERSTUDY_CUPY_VIA=off leaves the modules alone."""
import functools
import os
import sys

import numpy as np

TYPES = {"s": np.dtype("f4"), "d": np.dtype("f8"), "c": np.dtype("c8"), "z": np.dtype("c16")}
SAID = "understudy: CuPy's calls of cuBLAS, cuSOLVER, cuSPARSE and cuRAND are computed by NumPy (understudy_cupy; UNDERSTUDY_CUPY_VIA=off: not)"
HANDLE = 1  # of whatever kind: nobody looks at it
# They take no handle.
KEPT = ("check_status", "getProperty", "_getVersion", "_getVersionNumber", "get_build_version", "is_cuda_python_build")
_said = []


class Memory:
    def __init__(self, pointer, shape, dtype, strides):
        self.__array_interface__ = {"version": 3, "data": (pointer, False), "shape": shape, "typestr": dtype.str, "strides": strides}


def at(pointer, shape, dtype, strides):
    """An array of what lies there; strides in elements."""
    dtype = np.dtype(dtype)
    if 0 in shape or not pointer:
        return np.zeros(shape, dtype)
    return np.asarray(Memory(pointer, tuple(shape), dtype, tuple(s * dtype.itemsize for s in strides)))


def matrix(pointer, rows, columns, lead, dtype):
    """By columns, as these libraries have it."""
    return at(pointer, (rows, columns), dtype, (1, lead))


def vector(pointer, n, step, dtype):
    if step < 0:  # the first element is the last in memory
        pointer -= (n - 1) * step * np.dtype(dtype).itemsize
    return at(pointer, (n,), dtype, (step,))


def number(pointer, dtype):
    return at(pointer, (1,), dtype, (1,))[0]


def ready():
    """The work before it is over."""
    from cupy.cuda import get_current_stream
    from cupy_backends.cuda.api import runtime

    current = get_current_stream().ptr
    if runtime.streamIsCapturing(current):
        raise NotImplementedError("understudy_cupy: what NumPy computes cannot be captured into a graph")
    runtime.streamSynchronize(current)
    if not _said:
        _said.append(True)
        print(SAID, file=sys.stderr)


def entry(name, function):
    """What stands in the library's place: `function` gets what comes behind the handle."""

    @functools.wraps(function)
    def call(handle, *arguments):
        ready()
        with np.errstate(all="ignore"):
            return function(*arguments)

    call.__name__ = name
    return call


def refused(name):
    def call(*arguments, **more):
        raise NotImplementedError(f"understudy_cupy: {name} is computed by nothing here; its library is machine code")

    call.__name__ = name
    return call


def replace(module, functions, plain):
    """`functions` take a handle that is dropped, `plain` ones are put in as they are; what is left over is refused."""
    for name, value in list(vars(module).items()):
        if name in functions:
            setattr(module, name, entry(name, functions[name]))
        elif name in plain:
            setattr(module, name, plain[name])
        elif callable(value) and not isinstance(value, type) and not name.startswith("__") and name not in KEPT:
            if getattr(value, "__module__", module.__name__) == module.__name__:
                setattr(module, name, refused(f"{module.__name__.rpartition('.')[2]}.{name}"))


def of_each_type(functions, **names_of_complex):
    """{"sgemm": ..., "dgemm": ...} of functions that take a type first; some have other names for complex numbers."""
    every = {}
    for name, function in functions.items():
        for letter, dtype in TYPES.items():
            own = names_of_complex.get(name, name) if letter in "cz" else name
            every[letter + own] = functools.partial(function, dtype)
    return every


def is_on():
    return os.environ.get("UNDERSTUDY_CUPY_VIA", "").strip().lower() != "off"


def serve(module):
    """`module` is one of cupy_backends.cuda.libs, or cupyx._cusolver, and was just imported."""
    if not is_on():
        return
    name = module.__name__.rpartition(".")[2]
    if name == "cublas":
        import understudy_cupy_blas as blas

        replace(module, blas.functions(), blas.plain())
    elif name == "cusolver":
        import understudy_cupy_lapack as lapack

        replace(module, lapack.functions(), lapack.plain())
    elif name == "cusparse":
        import understudy_cupy_sparse as sparse

        replace(module, sparse.functions(), sparse.plain())
    elif name == "curand":
        import understudy_cupy_random as random

        replace(module, {}, random.plain())
    elif name == "_cusolver":
        import understudy_cupy_lapack as lapack

        lapack.serve_loops(module)
