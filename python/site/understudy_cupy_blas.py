# SPDX-License-Identifier: Apache-2.0
"""cuBLAS as CuPy calls it, by NumPy. Functions take a type, then what the library takes behind its handle; matrices lie by columns.
Numbers in 16 bits are multiplied and added in 32, and rounded once."""
import functools

import numpy as np
import understudy_cupy_factors as factors
from understudy_cupy import HANDLE, TYPES, at, matrix, number, of_each_type, vector

LEFT, UPPER, UNIT = 0, 1, 1
HALF_BRAIN = "bfloat16"
# cudaDataType -> what lies in memory; and cublasComputeType or cudaDataType -> what numbers are computed in
LIES = {0: "f4", 1: "f8", 2: "f2", 3: "i1", 4: "c8", 5: "c16", 8: "u1", 10: "i4", 14: HALF_BRAIN}
SCALES = {1: "f8", 5: "f8", 70: "f8", 71: "f8", 64: "f2", 65: "f2", 2: "f2", 10: "i4", 72: "i4", 73: "i4"}
PLAIN = (0, 1, 4, 5)  # NumPy multiplies them as they lie
_pointer_mode = [0]


def turned(a, operation):
    if operation == 0:
        return a
    return np.swapaxes(a, -1, -2) if operation == 1 else np.swapaxes(a, -1, -2).conj()


def put(c, alpha, result, beta):
    """c = alpha result + beta c; with a beta of 0 what c was is nothing, not even NaN."""
    result = result if alpha == 1 else alpha * result
    c[...] = result if beta == 0 else result + beta * c


def gemm(t, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
    multiply(t, ta, tb, m, n, k, number(alpha, t), a, lda, b, ldb, number(beta, t), c, ldc)


def multiply(t, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
    left = matrix(a, m, k, lda, t) if ta == 0 else matrix(a, k, m, lda, t)
    right = matrix(b, k, n, ldb, t) if tb == 0 else matrix(b, n, k, ldb, t)
    put(matrix(c, m, n, ldc, t), alpha, turned(left, ta) @ turned(right, tb), beta)


def pointers(array, n):
    return [int(p) for p in vector(array, n, 1, np.uint64)]


def gemm_batched(t, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, count):
    for each in zip(pointers(a, count), pointers(b, count), pointers(c, count)):
        gemm(t, ta, tb, m, n, k, alpha, each[0], lda, each[1], ldb, beta, each[2], ldc)


def gemm_strided(t, ta, tb, m, n, k, alpha, a, lda, of_a, b, ldb, of_b, beta, c, ldc, of_c, count):
    left = at(a, (count, m, k) if ta == 0 else (count, k, m), t, (of_a, 1, lda))
    right = at(b, (count, k, n) if tb == 0 else (count, n, k), t, (of_b, 1, ldb))
    put(at(c, (count, m, n), t, (of_c, 1, ldc)), number(alpha, t), turned(left, ta) @ turned(right, tb), number(beta, t))


def read(pointer, rows, columns, lead, kind):
    """In a type that can be multiplied."""
    if LIES[kind] == HALF_BRAIN:
        raw = matrix(pointer, rows, columns, lead, np.uint16)
        return (raw.astype(np.uint32) << 16).view(np.float32)
    a = matrix(pointer, rows, columns, lead, LIES[kind])
    return a.astype(np.float32) if a.dtype == np.float16 else a.astype(np.int32) if a.dtype.itemsize == 1 else a


def write(pointer, rows, columns, lead, kind, values):
    if LIES[kind] == HALF_BRAIN:  # to the nearest, ties to even
        raw = np.ascontiguousarray(values, np.float32).view(np.uint32)
        rounded = (raw + 0x7FFF + ((raw >> 16) & 1)) >> 16
        matrix(pointer, rows, columns, lead, np.uint16)[...] = np.where(np.isnan(values), raw >> 16 | 0x40, rounded)
    else:
        matrix(pointer, rows, columns, lead, LIES[kind])[...] = values


def scale_of(kind, compute):
    if LIES[kind].startswith("c"):
        return np.dtype(LIES[kind])
    return np.dtype(SCALES.get(compute, "f4"))


def gemm_ex(ta, tb, m, n, k, alpha, a, at_, lda, b, bt, ldb, beta, c, ct, ldc, compute, algorithm=None):
    scale = scale_of(ct, compute)
    alpha, beta = number(alpha, scale), number(beta, scale)
    if not isinstance(alpha, np.complexfloating):  # or float16 would stay
        alpha, beta = alpha.item(), beta.item()
    left = read(a, *((m, k) if ta == 0 else (k, m)), lda, at_)
    right = read(b, *((k, n) if tb == 0 else (n, k)), ldb, bt)
    result = alpha * (turned(left, ta) @ turned(right, tb))
    write(c, m, n, ldc, ct, result if beta == 0 else result + beta * read(c, m, n, ldc, ct))


def size_of(kind):
    return 2 if LIES[kind] == HALF_BRAIN else np.dtype(LIES[kind]).itemsize


def gemm_strided_ex(
    ta, tb, m, n, k, alpha, a, at_, lda, of_a, b, bt, ldb, of_b, beta, c, ct, ldc, of_c, count, compute, algorithm=None
):
    scale = scale_of(ct, compute)
    if at_ == bt == ct and ct in PLAIN and scale == LIES[ct]:
        gemm_strided(scale, ta, tb, m, n, k, alpha, a, lda, of_a, b, ldb, of_b, beta, c, ldc, of_c, count)
        return
    for i in range(count):
        x, y, z = (p + i * step * size_of(kind) for p, step, kind in ((a, of_a, at_), (b, of_b, bt), (c, of_c, ct)))
        gemm_ex(ta, tb, m, n, k, alpha, x, at_, lda, y, bt, ldb, beta, z, ct, ldc, compute)


def sgemm_ex(ta, tb, m, n, k, alpha, a, at_, lda, b, bt, ldb, beta, c, ct, ldc):
    gemm_ex(ta, tb, m, n, k, alpha, a, at_, lda, b, bt, ldb, beta, c, ct, ldc, 0)


def gemv(t, trans, m, n, alpha, a, lda, x, incx, beta, y, incy):
    rows, columns = (m, n) if trans == 0 else (n, m)
    product = turned(matrix(a, m, n, lda, t), trans) @ vector(x, columns, incx, t)
    put(vector(y, rows, incy, t), number(alpha, t), product, number(beta, t))


def ger(t, m, n, alpha, x, incx, y, incy, a, lda):
    matrix(a, m, n, lda, t)[...] += number(alpha, t) * np.outer(vector(x, m, incx, t), vector(y, n, incy, t))


def gerc(t, m, n, alpha, x, incx, y, incy, a, lda):
    matrix(a, m, n, lda, t)[...] += number(alpha, t) * np.outer(vector(x, m, incx, t), vector(y, n, incy, t).conj())


def sbmv(t, uplo, n, k, alpha, a, lda, x, incx, beta, y, incy):
    """Of a symmetric matrix the diagonals of one side, each a row."""
    rows, whole = matrix(a, k + 1, n, lda, t), np.zeros((n, n), t)
    for d in range(min(k + 1, n)):
        values = rows[k - d, d:] if uplo == UPPER else rows[d, : n - d]
        whole += np.diag(values, d) + (np.diag(values, -d) if d else 0)
    put(vector(y, n, incy, t), number(alpha, t), whole @ vector(x, n, incx, t), number(beta, t))


def syrk(t, uplo, trans, n, k, alpha, a, lda, beta, c, ldc):
    left = matrix(a, n, k, lda, t) if trans == 0 else matrix(a, k, n, lda, t).T
    out = matrix(c, n, n, ldc, t)
    whole = out.copy()
    put(whole, number(alpha, t), left @ left.T, number(beta, t))
    side = np.triu_indices(n) if uplo == UPPER else np.tril_indices(n)
    out[side] = whole[side]


def geam(t, ta, tb, m, n, alpha, a, lda, beta, b, ldb, c, ldc):
    alpha, beta, result = number(alpha, t), number(beta, t), np.zeros((m, n), t)
    for factor, pointer, lead, trans in ((alpha, a, lda, ta), (beta, b, ldb, tb)):
        if factor != 0:
            x = matrix(pointer, m, n, lead, t) if trans == 0 else matrix(pointer, n, m, lead, t)
            result += factor * turned(x, trans)
    matrix(c, m, n, ldc, t)[...] = result


def dgmm(t, side, m, n, a, lda, x, incx, c, ldc):
    values = vector(x, m if side == LEFT else n, incx, t)
    matrix(c, m, n, ldc, t)[...] = matrix(a, m, n, lda, t) * (values[:, None] if side == LEFT else values[None, :])


def trsm(t, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb):
    n_a = m if side == LEFT else n
    x = matrix(b, m, n, ldb, t)
    triangle = turned(factors.triangle(matrix(a, n_a, n_a, lda, t), uplo == UPPER, diag == UNIT), trans)
    lower = (uplo == UPPER) != (trans == 0)
    right = number(alpha, t) * x
    x[...] = factors.solve(triangle, right, lower) if side == LEFT else factors.solve(triangle.T, right.T, not lower).T


def trsm_batched(t, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, count):
    for x, y in zip(pointers(a, count), pointers(b, count)):
        trsm(t, side, uplo, trans, diag, m, n, alpha, x, lda, y, ldb)


def getrf_batched(t, n, a, lda, pivots, info, count):
    for i, p in enumerate(pointers(a, count)):
        rows, wrong = factors.lu(matrix(p, n, n, lda, t), pivots != 0)
        if pivots:
            at(pivots, (count, n), np.int32, (n, 1))[i] = rows
        vector(info, count, 1, np.int32)[i] = wrong


def getrs_batched(t, trans, n, nrhs, a, lda, pivots, b, ldb, info, count):
    rows = at(pivots, (count, n), np.int32, (n, 1)) if pivots else [np.arange(1, n + 1)] * count
    for i, (x, y) in enumerate(zip(pointers(a, count), pointers(b, count))):
        factors.solve_lu(matrix(x, n, n, lda, t), rows[i], matrix(y, n, nrhs, ldb, t), trans)
    number_to(info, 0)


def getri_batched(t, n, a, lda, pivots, c, ldc, info, count):
    rows = at(pivots, (count, n), np.int32, (n, 1)) if pivots else [np.arange(1, n + 1)] * count
    for i, (x, y) in enumerate(zip(pointers(a, count), pointers(c, count))):
        lu = matrix(x, n, n, lda, t)
        empty = np.flatnonzero(np.diag(lu) == 0)
        vector(info, count, 1, np.int32)[i] = empty[0] + 1 if len(empty) else 0
        out = matrix(y, n, n, ldc, t)
        out[...] = np.eye(n, dtype=t)
        factors.solve_lu(lu, rows[i], out, 0)


def number_to(pointer, value, dtype=np.int32):
    at(pointer, (1,), dtype, (1,))[0] = value


def size(x):
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


def extreme(choose, t, n, x, incx, result):
    number_to(result, 1 + choose(size(vector(x, n, incx, t))) if n else 0)


def to_real(function, t, n, x, incx, result):
    number_to(result, function(vector(x, n, incx, t)), np.dtype(t.char.lower()))


def norm(x):
    """Without the overflow that squares have."""
    most = np.abs(x).max(initial=0)
    if not 0 < most < np.inf:
        return most
    return most * np.sqrt((np.abs(x / most) ** 2).sum())


def dot(t, n, x, incx, y, incy, result):
    number_to(result, vector(x, n, incx, t) @ vector(y, n, incy, t), t)


def dotc(t, n, x, incx, y, incy, result):
    number_to(result, vector(x, n, incx, t).conj() @ vector(y, n, incy, t), t)


def axpy(t, n, alpha, x, incx, y, incy):
    vector(y, n, incy, t)[...] += number(alpha, t) * vector(x, n, incx, t)


def scal(of_alpha, t, n, alpha, x, incx):
    vector(x, n, incx, t)[...] *= number(alpha, of_alpha)


def packed(n, uplo):
    """Places of a triangle, column after column."""
    return [(i, j) for j in range(n) for i in (range(j + 1) if uplo == UPPER else range(j, n))]


def tpttr(t, uplo, n, ap, a, lda):
    out = matrix(a, n, n, lda, t)
    for value, place in zip(vector(ap, n * (n + 1) // 2, 1, t), packed(n, uplo)):
        out[place] = value


def trttp(t, uplo, n, a, lda, ap):
    whole = matrix(a, n, n, lda, t)
    vector(ap, n * (n + 1) // 2, 1, t)[...] = [whole[place] for place in packed(n, uplo)]


def functions():
    of_all = {
        "gemm": gemm, "gemmBatched": gemm_batched, "gemmStridedBatched": gemm_strided, "gemv": gemv, "ger": ger, "gerc": gerc,
        "geru": ger, "sbmv": sbmv, "syrk": syrk, "geam": geam, "dgmm": dgmm, "trsm": trsm, "trsmBatched": trsm_batched,
        "getrfBatched": getrf_batched, "getrsBatched": getrs_batched, "getriBatched": getri_batched, "axpy": axpy,
        "dot": dot, "dotu": dot, "dotc": dotc, "tpttr": tpttr, "trttp": trttp,
    }  # fmt: skip
    every = of_each_type(of_all)
    for letter, t in TYPES.items():
        every[letter + "scal"] = functools.partial(scal, t, t)
        every[f"i{letter}amax"] = functools.partial(extreme, np.argmax, t)
        every[f"i{letter}amin"] = functools.partial(extreme, np.argmin, t)
    for prefix, letter in (("s", "s"), ("d", "d"), ("sc", "c"), ("dz", "z")):
        every[prefix + "nrm2"] = functools.partial(to_real, norm, TYPES[letter])
        every[prefix + "asum"] = functools.partial(to_real, lambda x: size(x).sum(), TYPES[letter])
    every["csscal"] = functools.partial(scal, TYPES["s"], TYPES["c"])
    every["zdscal"] = functools.partial(scal, TYPES["d"], TYPES["z"])
    return every | {"gemmEx": gemm_ex, "sgemmEx": sgemm_ex, "gemmStridedBatchedEx": gemm_strided_ex}


def version(handle):
    from cupy_backends.cuda.api import runtime

    return runtime.runtimeGetVersion() * 10


def set_pointer_mode(handle, mode):
    _pointer_mode[0] = mode


def plain():
    return {
        "create": lambda: HANDLE, "destroy": lambda handle: None, "getVersion": version,
        "getPointerMode": lambda handle: _pointer_mode[0], "setPointerMode": set_pointer_mode,
        "setStream": lambda handle, stream: None, "_setStream": lambda handle: None, "setMathMode": lambda handle, mode: None,
    }  # fmt: skip
