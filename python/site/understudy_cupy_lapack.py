# SPDX-License-Identifier: Apache-2.0
"""cuSOLVER's dense functions as CuPy calls them, by NumPy. Functions take a type, then what the library takes behind its handle;
matrices lie by columns, `info` is a place in the device's memory."""
import functools

import numpy as np
import understudy_cupy_factors as factors
from understudy_cupy import HANDLE, TYPES, at, matrix, of_each_type, ready, vector
from understudy_cupy_blas import LIES, UPPER, number_to, pointers

LEFT = 0


def potrf(t, uplo, n, a, lda, work, lwork, info):
    number_to(info, factors.cholesky(matrix(a, n, n, lda, t), uplo == UPPER))


def potrf_batched(t, uplo, n, a, lda, info, count):
    for i, p in enumerate(pointers(a, count)):
        number_to(info + 4 * i, factors.cholesky(matrix(p, n, n, lda, t), uplo == UPPER))


def potrs(t, uplo, n, nrhs, a, lda, b, ldb, info):
    factor, x = factors.triangle(matrix(a, n, n, lda, t), uplo == UPPER, False), matrix(b, n, nrhs, ldb, t)
    lower = factor.conj().T if uplo == UPPER else factor
    x[...] = factors.solve(lower.conj().T, factors.solve(lower, x, True), False)
    number_to(info, 0)


def potrs_batched(t, uplo, n, nrhs, a, lda, b, ldb, info, count):
    for x, y in zip(pointers(a, count), pointers(b, count)):
        potrs(t, uplo, n, nrhs, x, lda, y, ldb, info)


def getrf(t, m, n, a, lda, work, pivots, info):
    rows, wrong = factors.lu(matrix(a, m, n, lda, t), pivots != 0)
    if pivots:
        vector(pivots, len(rows), 1, np.int32)[...] = rows
    number_to(info, wrong)


def getrs(t, trans, n, nrhs, a, lda, pivots, b, ldb, info):
    rows = vector(pivots, n, 1, np.int32) if pivots else ()
    factors.solve_lu(matrix(a, n, n, lda, t), rows, matrix(b, n, nrhs, ldb, t), trans)
    number_to(info, 0)


def geqrf(t, m, n, a, lda, tau, work, lwork, info):
    vector(tau, min(m, n), 1, t)[...] = factors.reflected(matrix(a, m, n, lda, t))
    number_to(info, 0)


def orgqr(t, m, n, k, a, lda, tau, work, lwork, info):
    q = matrix(a, m, n, lda, t)
    q[...] = factors.q_of(q[:, :k], vector(tau, k, 1, t), n)
    number_to(info, 0)


def ormqr(t, side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info):
    rows = m if side == LEFT else n
    factors.reflect(matrix(c, m, n, ldc, t), matrix(a, rows, k, lda, t), vector(tau, k, 1, t), trans != 0, side == LEFT)
    number_to(info, 0)


def singular(a, full, vectors):
    """(u, s, vh), or (None, s, None); of what does not converge NaN."""
    try:
        return np.linalg.svd(a, full) if vectors else (None, np.linalg.svd(a, compute_uv=False), None)
    except np.linalg.LinAlgError:
        m, n = a.shape
        k = min(m, n)
        nothing = functools.partial(np.full, fill_value=np.nan, dtype=a.dtype)
        return nothing((m, m if full else k)), nothing((k,)).real, nothing((n if full else k, n))


def gesvd(t, jobu, jobv, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, rwork, info):
    """Jobs: `A`ll columns, those of `S`ingular values, these `O`ver a, `N`one."""
    jobu, jobv, x, k = chr(jobu), chr(jobv), matrix(a, m, n, lda, t), min(m, n)
    left, values, right = singular(x, "A" in (jobu, jobv), (jobu, jobv) != ("N", "N"))
    vector(s, k, 1, t.char.lower())[...] = values
    if jobu in "AS":
        columns = m if jobu == "A" else k
        matrix(u, m, columns, ldu, t)[...] = left[:, :columns]
    if jobv in "AS":
        rows = n if jobv == "A" else k
        matrix(vt, rows, n, ldvt, t)[...] = right[:rows]
    if jobu == "O":
        x[:, :k] = left[:, :k]
    if jobv == "O":
        x[:k] = right[:k]
    number_to(info, int(np.isnan(values).any()))


def jacobi(t, vectors, columns_u, columns_v, m, n, a, lda, s, u, ldu, v, ldv):
    left, values, right = singular(matrix(a, m, n, lda, t), max(columns_u, columns_v) > min(m, n), vectors)
    vector(s, min(m, n), 1, t.char.lower())[...] = values
    if vectors:
        matrix(u, m, columns_u, ldu, t)[...] = left[:, :columns_u]
        matrix(v, n, columns_v, ldv, t)[...] = right[:columns_v].conj().T


def gesvdj(t, jobz, economic, m, n, a, lda, s, u, ldu, v, ldv, work, lwork, info, parameters):
    k = min(m, n)
    jacobi(t, jobz != 0, *((k, k) if economic else (m, n)), m, n, a, lda, s, u, ldu, v, ldv)
    number_to(info, 0)


def gesvdj_batched(t, jobz, m, n, a, lda, s, u, ldu, v, ldv, work, lwork, info, parameters, count):
    size, real = t.itemsize, np.dtype(t.char.lower()).itemsize
    for i in range(count):
        places = (a + i * lda * n * size, lda, s + i * min(m, n) * real, u + i * ldu * m * size, ldu, v + i * ldv * n * size, ldv)
        jacobi(t, jobz != 0, m, n, m, n, *places)
        number_to(info + 4 * i, 0)


def gesvda(
    t, jobz, rank, m, n, a, lda, of_a, s, of_s, u, ldu, of_u, v, ldv, of_v, work, lwork, info, residues, count
):
    size, real = t.itemsize, np.dtype(t.char.lower()).itemsize
    for i in range(count):
        x, uu, vv = a + i * of_a * size, u + i * of_u * size, v + i * of_v * size
        left, values, right = singular(matrix(x, m, n, lda, t), False, jobz != 0)
        vector(s + i * of_s * real, rank, 1, t.char.lower())[...] = values[:rank]
        if jobz:
            matrix(uu, m, rank, ldu, t)[...] = left[:, :rank]
            matrix(vv, n, rank, ldv, t)[...] = right[:rank].conj().T
        number_to(info + 4 * i, 0)
        number_to(residues + 8 * i, 0, np.float64)


def syevd(t, jobz, uplo, n, a, lda, w, work, lwork, info):
    x, code = matrix(a, n, n, lda, t), 0
    try:
        values, vectors = np.linalg.eigh(x, "U" if uplo == UPPER else "L")
    except np.linalg.LinAlgError:
        values, vectors, code = np.nan, np.nan, 1
    vector(w, n, 1, t.char.lower())[...] = values
    if jobz:
        x[...] = vectors
    number_to(info, code)


def syevj(t, jobz, uplo, n, a, lda, w, work, lwork, info, parameters):
    syevd(t, jobz, uplo, n, a, lda, w, work, lwork, info)


def syevj_batched(t, jobz, uplo, n, a, lda, w, work, lwork, info, parameters, count):
    real = np.dtype(t.char.lower()).itemsize
    for i in range(count):
        syevd(t, jobz, uplo, n, a + i * lda * n * t.itemsize, lda, w + i * n * real, work, lwork, info + 4 * i)


def xsyevd(parameters, jobz, uplo, n, kind, a, lda, kind_w, w, compute, *rest):
    syevd(np.dtype(LIES[kind]), jobz, uplo, n, a, lda, w, 0, 0, rest[-1])


def xgeev(parameters, jobvl, jobvr, n, kind, a, lda, kind_w, w, kind_vl, vl, ldvl, kind_vr, vr, ldvr, compute, *rest):
    t = np.dtype(LIES[kind])
    x, code = matrix(a, n, n, lda, t), 0
    try:
        values, vectors = np.linalg.eig(x)
    except np.linalg.LinAlgError:
        values, vectors, code = np.full(n, np.nan), np.full((n, n), np.nan), 1
    vector(w, n, 1, LIES[kind_w])[...] = values
    if jobvr:
        out = matrix(vr, n, n, ldvr, LIES[kind_vr])
        if out.dtype.kind == "c":
            out[...] = vectors
        else:  # of a pair: real and imaginary parts of the first
            out[...] = vectors.real
            for i in np.flatnonzero(np.imag(values) > 0):
                out[:, i + 1] = vectors[:, i].imag
    number_to(rest[-1], code)


def gesv(t, n, nrhs, a, lda, pivots, b, ldb, x, ldx, work, lwork, info):
    """Returns how many iterations refined it."""
    factor, out = matrix(a, n, n, lda, t).copy(), matrix(x, n, nrhs, ldx, t)
    rows, wrong = factors.lu(factor)
    out[...] = matrix(b, n, nrhs, ldb, t)
    factors.solve_lu(factor, rows, out, 0)
    number_to(info, wrong)
    return 0


def gels(t, m, n, nrhs, a, lda, b, ldb, x, ldx, work, lwork, info):
    q, r = np.linalg.qr(matrix(a, m, n, lda, t))
    matrix(x, n, nrhs, ldx, t)[...] = factors.solve(r, q.conj().T @ matrix(b, m, nrhs, ldb, t), False)
    number_to(info, 0)
    return 0


MIXED = {"s": "sxh", "d": "dsxh", "c": "cyk", "z": "zcyk"}  # what each type may be solved in


def functions():
    every = of_each_type(
        {
            "potrf": potrf, "potrs": potrs, "potrfBatched": potrf_batched, "potrsBatched": potrs_batched, "getrf": getrf,
            "getrs": getrs, "geqrf": geqrf, "orgqr": orgqr, "ormqr": ormqr, "gesvd": gesvd, "gesvdj": gesvdj,
            "gesvdjBatched": gesvdj_batched, "gesvdaStridedBatched": gesvda, "syevd": syevd, "syevj": syevj,
            "syevjBatched": syevj_batched,
        },
        orgqr="ungqr", syevd="heevd", syevj="heevj", syevjBatched="heevjBatched",
    )  # fmt: skip
    for letter, t in TYPES.items():
        if letter in "cz":  # it has both names
            every[letter + "unmqr"] = every[letter + "ormqr"]
        for inner in MIXED[letter]:
            every[letter + inner + "gesv"] = functools.partial(gesv, t)
            every[letter + inner + "gels"] = functools.partial(gels, t)
    return every | {"xsyevd": xsyevd, "xgeev": xgeev}


def plain():
    one = dict.fromkeys(f"{name}_bufferSize" for name in functions())
    sizes = {name: (lambda *a, **k: (8, 8)) if name.startswith("x") else (lambda *a, **k: 8) for name in one}
    made = ("create", "spCreate", "createParams", "createGesvdjInfo", "createSyevjInfo")
    over = ("destroy", "spDestroy", "destroyParams", "destroyGesvdjInfo", "destroySyevjInfo")
    streams = {name: lambda handle, stream=0: None for name in ("setStream", "_setStream", "spSetStream", "_spSetStream")}
    return sizes | streams | {n: lambda: HANDLE for n in made} | {n: lambda handle: None for n in over}


def gesvd_loop(a, a_dtype, full_matrices, compute_uv, overwrite_a):
    """(u, s, v) of each matrix."""
    import cupy

    x, real = a.astype(a_dtype, order="C", copy=True), a_dtype.lower()
    count, m, n = x.shape
    k = min(m, n)
    s = cupy.empty((count, k), real)
    u = cupy.empty((count, m, m if full_matrices else k), a_dtype) if compute_uv else None
    v = cupy.empty((count, n, n if full_matrices else k), a_dtype) if compute_uv else None
    ready()
    for i in range(count):
        left, on_host(s)[i], right = singular(on_host(x)[i], full_matrices, compute_uv)
        if compute_uv:
            on_host(u)[i], on_host(v)[i] = left, right.conj().T
    return (u, s, v) if compute_uv else s


def on_host(a):
    return at(a.data.ptr, a.shape, a.dtype, tuple(s // a.itemsize for s in a.strides))


def qr_loop(a, mode):
    """As CuPy has it: (q, r), r alone, or transposed reflections and their factors."""
    import cupy

    dtype, out_dtype = cupy.linalg._util.linalg_common_type(a)
    x = a.astype(dtype, order="C", copy=True)
    count, m, n = x.shape
    k = min(m, n)
    ready()
    if mode == "raw":
        h, tau = cupy.empty((count, n, m), dtype), cupy.empty((count, k), dtype)
        for i in range(count):
            on_host(h)[i], on_host(tau)[i] = np.linalg.qr(on_host(x)[i], "raw")
        return h.astype(out_dtype, copy=False), tau.astype(out_dtype, copy=False)
    rows = m if mode == "complete" else k
    q, r = cupy.empty((count, m, rows), dtype), cupy.empty((count, rows, n), dtype)
    for i in range(count):
        on_host(q)[i], on_host(r)[i] = np.linalg.qr(on_host(x)[i], "complete" if mode == "complete" else "reduced")
    r = r.astype(out_dtype, copy=False)
    return r if mode == "r" else (q.astype(out_dtype, copy=False), r)


def csr_solve(a, b, tol=0, reorder=1):
    """A sparse system, as a dense one."""
    import cupy

    if a.shape[0] != a.shape[1] or a.shape[0] != b.shape[0]:
        raise ValueError(f"shapes do not fit: {a.shape}, {b.shape}")
    return cupy.linalg.solve(a.toarray(), b)


def serve_loops(module):
    """Of cupyx._cusolver what calls the library without Python."""
    module._gesvd_batched = gesvd_loop
    module._geqrf_orgqr_batched = qr_loop
    module.csrlsvqr = csr_solve
