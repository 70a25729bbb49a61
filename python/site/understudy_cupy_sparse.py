# SPDX-License-Identifier: Apache-2.0
"""cuSPARSE as CuPy calls it, by NumPy: matrices by rows, by columns and by coordinates, their products, sums, orders and triangular
systems. What the library calls a descriptor is a number here, behind which an object says what lies where."""
import itertools
import types

import numpy as np
import understudy_cupy_factors as factors
from understudy_cupy import HANDLE, TYPES, at, entry, number, vector
from understudy_cupy_blas import LIES, number_to, turned

INDEX = {1: np.uint16, 2: np.int32, 3: np.int64}
BY_COLUMNS = 1  # how a dense matrix lies
FILL_MODE, DIAG_TYPE = 0, 1
WORK = 8  # bytes: nothing is kept there
_objects = {}
_next = itertools.count(1)


def kept(thing):
    place = next(_next)
    _objects[place] = thing
    return place


def make(**what):
    return kept(types.SimpleNamespace(**what))


def forget(place):
    _objects.pop(place, None)


def create_csr(rows, cols, nnz, offsets, indices, values, of_offsets, of_indices, base, kind):
    return make(form="csr", rows=rows, cols=cols, nnz=nnz, rowOffsets=offsets, colIdx=indices, values=values, rowOffsetType=of_offsets,
                colIdxType=of_indices, idxBase=base, valueType=kind)  # fmt: skip


def create_csc(rows, cols, nnz, offsets, indices, values, of_offsets, of_indices, base, kind):
    place = create_csr(rows, cols, nnz, offsets, indices, values, of_offsets, of_indices, base, kind)
    _objects[place].form = "csc"
    return place


def create_coo(rows, cols, nnz, row, col, values, of_indices, base, kind):
    return make(form="coo", rows=rows, cols=cols, nnz=nnz, rowIdx=row, colIdx=col, values=values, idxType=of_indices, idxBase=base,
                valueType=kind)  # fmt: skip


def create_sparse_vector(size, nnz, indices, values, of_indices, base, kind):
    return make(size=size, nnz=nnz, idx=indices, values=values, idxType=of_indices, idxBase=base, valueType=kind)


def create_vector(size, values, kind):
    return make(size=size, values=values, valueType=kind)


def create_dense(rows, cols, ld, values, kind, order):
    return make(rows=rows, cols=cols, ld=ld, values=values, valueType=kind, order=order)


def set_pointers(place, offsets, indices, values):
    m = _objects[place]
    m.rowOffsets, m.colIdx, m.values = offsets, indices, values


def set_attribute(place, attribute, data):
    setattr(_objects[place], {FILL_MODE: "fill", DIAG_TYPE: "diag"}[attribute], int(data))


def size_of(place, rows, cols, nnz):
    for pointer, value in ((rows, _objects[place].rows), (cols, _objects[place].cols), (nnz, _objects[place].nnz)):
        number_to(pointer, value, np.int64)


def dense(place):
    m = _objects[place]
    return at(m.values, (m.rows, m.cols), LIES[m.valueType], (1, m.ld) if m.order == BY_COLUMNS else (m.ld, 1))


def lines(offsets):
    """The line of each element."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def parts(place):
    """(rows, columns, values) of each element."""
    m = _objects[place]
    values = vector(m.values, m.nnz, 1, LIES[m.valueType])
    if m.form == "coo":
        return vector(m.rowIdx, m.nnz, 1, INDEX[m.idxType]), vector(m.colIdx, m.nnz, 1, INDEX[m.idxType]), values
    along = m.rows if m.form == "csr" else m.cols
    of_lines = lines(vector(m.rowOffsets, along + 1, 1, INDEX[m.rowOffsetType]))
    other = vector(m.colIdx, m.nnz, 1, INDEX[m.colIdxType])
    return (of_lines, other, values) if m.form == "csr" else (other, of_lines, values)


def turned_parts(place, operation):
    """And the number of rows and columns."""
    rows, cols, values = parts(place)
    m = _objects[place]
    if operation == 0:
        return rows, cols, values, m.rows, m.cols
    return cols, rows, values if operation == 1 else values.conj(), m.cols, m.rows


def offsets_of(sorted_lines, n):
    return np.searchsorted(sorted_lines, np.arange(n + 1))


def merged(rows, cols, values, n_cols):
    """In the order of rows, elements of one place added."""
    keys = rows.astype(np.int64) * n_cols + cols
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    keys, values = keys[first], np.add.reduceat(values, first) if len(first) else values
    return (keys // n_cols if n_cols else keys), (keys % n_cols if n_cols else keys), values


def put(place, beta, result):
    place[...] = result if beta == 0 else result + beta * place


def spmv(op, alpha, a, x, beta, y, kind, algorithm, work):
    rows, cols, values, m, n = turned_parts(a, op)
    t = LIES[kind]
    product = np.zeros(m, t)
    np.add.at(product, rows, values * at(_objects[x].values, (n,), LIES[_objects[x].valueType], (1,))[cols])
    put(at(_objects[y].values, (m,), LIES[_objects[y].valueType], (1,)), number(beta, t), number(alpha, t) * product)


def spmm(op_a, op_b, alpha, a, b, beta, c, kind, algorithm, work):
    rows, cols, values, m, _ = turned_parts(a, op_a)
    right = turned(dense(b), op_b)
    product = np.zeros((m, right.shape[1]), LIES[kind])
    np.add.at(product, rows, values[:, None] * right[cols])
    put(dense(c), number(beta, LIES[kind]), number(alpha, LIES[kind]) * product)


def product_of_sparse(a, b):
    rows, cols, values = parts(a)
    right_rows, right_cols, right_values = parts(b)
    offsets = offsets_of(right_rows, _objects[b].rows)
    counts = (offsets[1:] - offsets[:-1])[cols]
    which = np.repeat(np.arange(len(cols)), counts)
    begin = np.repeat(offsets[cols] - np.concatenate([[0], np.cumsum(counts)[:-1]]) if len(cols) else cols, counts)
    partner = begin + np.arange(len(which))
    return merged(rows[which], right_cols[partner], values[which] * right_values[partner], _objects[b].cols)


def spgemm_compute(op_a, op_b, alpha, a, b, beta, c, kind, algorithm, state, size, work):
    if work:
        rows, cols, values = product_of_sparse(a, b)
        _objects[state].result = rows, cols, number(alpha, LIES[kind]) * values
        _objects[c].nnz = len(values)
    return WORK


def fill_csr(place, rows, cols, values):
    m = _objects[place]
    vector(m.rowOffsets, m.rows + 1, 1, INDEX[m.rowOffsetType])[...] = offsets_of(rows, m.rows)
    vector(m.colIdx, len(cols), 1, INDEX[m.colIdxType])[...] = cols
    vector(m.values, len(values), 1, LIES[m.valueType])[...] = values


def spgemm_copy(op_a, op_b, alpha, a, b, beta, c, kind, algorithm, state):
    fill_csr(c, *_objects[state].result)


def spgeam_nnz(op_a, op_b, alpha, a, beta, b, c, kind, algorithm, state, work):
    t, both = LIES[kind], (parts(a), parts(b))
    values = [number(factor, t) * p[2] for factor, p in zip((alpha, beta), both)]
    joined = [np.concatenate(each) for each in ((both[0][0], both[1][0]), (both[0][1], both[1][1]), values)]
    _objects[state].result = merged(*joined, _objects[a].cols)
    m = _objects[c]
    m.nnz = len(_objects[state].result[0])
    vector(m.rowOffsets, m.rows + 1, 1, INDEX[m.rowOffsetType])[...] = offsets_of(_objects[state].result[0], m.rows)


def spgeam(op_a, op_b, alpha, a, beta, b, c, kind, algorithm, state, work):
    fill_csr(c, *_objects[state].result)


def sum_of(t, m, n, alpha, nnz_a, val_a, row_a, col_a, beta, nnz_b, val_b, row_b, col_b):
    def each(factor, nnz, val, row, col):
        values = factor * vector(val, nnz, 1, t) if val else np.zeros(nnz, t)
        return lines(vector(row, m + 1, 1, np.int32)), vector(col, nnz, 1, np.int32), values

    a, b = each(alpha, nnz_a, val_a, row_a, col_a), each(beta, nnz_b, val_b, row_b, col_b)
    return merged(*(np.concatenate(pair) for pair in zip(a, b)), n)


def csrgeam2_nnz(m, n, descr_a, nnz_a, row_a, col_a, descr_b, nnz_b, row_b, col_b, descr_c, row_c, total, work):
    rows, _, _ = sum_of(np.dtype("f4"), m, n, 1, nnz_a, 0, row_a, col_a, 1, nnz_b, 0, row_b, col_b)
    vector(row_c, m + 1, 1, np.int32)[...] = offsets_of(rows, m)
    number_to(total, len(rows))


def csrgeam2(t):
    def compute(m, n, alpha, da, nnz_a, val_a, row_a, col_a, beta, db, nnz_b, val_b, row_b, col_b, dc, val_c, row_c, col_c, work):
        _, cols, values = sum_of(t, m, n, number(alpha, t), nnz_a, val_a, row_a, col_a, number(beta, t), nnz_b, val_b, row_b, col_b)
        vector(col_c, len(cols), 1, np.int32)[...] = cols
        vector(val_c, len(cols), 1, t)[...] = values

    return compute


def xcoo2csr(rows, nnz, m, offsets, base):
    vector(offsets, m + 1, 1, np.int32)[...] = offsets_of(vector(rows, nnz, 1, np.int32), m)


def xcsr2coo(offsets, nnz, m, rows, base):
    vector(rows, nnz, 1, np.int32)[...] = lines(vector(offsets, m + 1, 1, np.int32))


def identity(n, p):
    vector(p, n, 1, np.int32)[...] = np.arange(n)


def sort(order, *arrays):
    for a in arrays:
        a[...] = a[order]


def coosort_by_row(m, n, nnz, rows, cols, p, work):
    r, c, places = (vector(each, nnz, 1, np.int32) for each in (rows, cols, p))
    sort(np.lexsort((c, r)), r, c, places)


def coosort_by_column(m, n, nnz, rows, cols, p, work):
    coosort_by_row(n, m, nnz, cols, rows, p, work)


def compressed_sort(along):
    def compute(m, n, nnz, descr, offsets, indices, p, work):
        of_lines = lines(vector(offsets, (m, n)[along] + 1, 1, np.int32))
        c, places = vector(indices, nnz, 1, np.int32), vector(p, nnz, 1, np.int32)
        sort(np.lexsort((c, of_lines)), c, places)

    return compute


def gather(y, x):
    d, s = _objects[y], _objects[x]
    found = vector(d.values, d.size, 1, LIES[d.valueType])[vector(s.idx, s.nnz, 1, INDEX[s.idxType])]
    vector(s.values, s.nnz, 1, LIES[s.valueType])[...] = found


def csr2csc(m, n, nnz, val, row, col, out, offsets, indices, kind, action, base, algorithm, work):
    rows, cols = lines(vector(row, m + 1, 1, np.int32)), vector(col, nnz, 1, np.int32)
    order = np.lexsort((rows, cols))
    vector(offsets, n + 1, 1, np.int32)[...] = offsets_of(cols[order], n)
    vector(indices, nnz, 1, np.int32)[...] = rows[order]
    if action:
        vector(out, nnz, 1, LIES[kind])[...] = vector(val, nnz, 1, LIES[kind])[order]


def sparse_to_dense(a, b, algorithm, work):
    rows, cols, values = parts(a)
    out = dense(b)
    out[...] = 0
    out[rows, cols] = values


def dense_to_sparse_analysis(a, b, algorithm, work):
    _objects[b].nnz = int(np.count_nonzero(dense(a)))


def dense_to_sparse(a, b, algorithm, work):
    source, m = dense(a), _objects[b]
    if m.form == "csc":
        cols, rows = np.nonzero(source.T)
        vector(m.rowOffsets, m.cols + 1, 1, INDEX[m.rowOffsetType])[...] = offsets_of(cols, m.cols)
        vector(m.colIdx, len(rows), 1, INDEX[m.colIdxType])[...] = rows
    else:
        rows, cols = np.nonzero(source)
        if m.form == "csr":
            vector(m.rowOffsets, m.rows + 1, 1, INDEX[m.rowOffsetType])[...] = offsets_of(rows, m.rows)
        else:
            vector(m.rowIdx, len(rows), 1, INDEX[m.idxType])[...] = rows
        vector(m.colIdx, len(cols), 1, INDEX[m.colIdxType if m.form == "csr" else m.idxType])[...] = cols
    vector(m.values, len(rows), 1, LIES[m.valueType])[...] = source[rows, cols]


def spsm_solve(op_a, op_b, alpha, a, b, c, kind, algorithm, state, work=0):
    rows, cols, values = parts(a)
    m, upper = _objects[a], getattr(_objects[a], "fill", 0) == 1
    whole = np.zeros((m.rows, m.cols), LIES[kind])
    np.add.at(whole, (rows, cols), values)
    triangle = turned(factors.triangle(whole, upper, getattr(m, "diag", 0) == 1), op_a)
    right = number(alpha, LIES[kind]) * turned(dense(b), op_b)
    dense(c)[...] = factors.solve(triangle, right, upper != (op_a == 0))


def nnz_compress(t):
    def compute(m, descr, values, offsets, of_rows, limit):
        at_ = vector(offsets, m + 1, 1, np.int32)
        large = np.abs(vector(values, int(at_[-1]), 1, t)) > abs(limit)
        counts = np.bincount(lines(at_)[large], minlength=m)
        vector(of_rows, m, 1, np.int32)[...] = counts
        return int(counts.sum())

    return compute


def compress(t):
    def compute(m, n, descr, values, cols, offsets, nnz, of_rows, out, out_cols, out_offsets, limit):
        v, c = vector(values, nnz, 1, t), vector(cols, nnz, 1, np.int32)
        large = np.abs(v) > abs(limit)
        counts, total = vector(of_rows, m, 1, np.int32), int(large.sum())
        vector(out_offsets, m + 1, 1, np.int32)[...] = np.concatenate([[0], np.cumsum(counts)])
        vector(out, total, 1, t)[...], vector(out_cols, total, 1, np.int32)[...] = v[large], c[large]

    return compute


NO_PIVOT = -1
ZERO_PIVOT = 9  # CUSPARSE_STATUS_ZERO_PIVOT


def lu_analysis(t):
    """The first row without an element on the diagonal."""

    def compute(m, nnz, descr, values, offsets, indices, info, policy, work):
        starts, cols = vector(offsets, m + 1, 1, np.int32), vector(indices, nnz, 1, np.int32)
        base = starts[0]
        rows = lines(starts)
        has = np.zeros(m, bool)
        has[rows[rows == cols - base]] = True
        _objects[info].pivot = NO_PIVOT if has.all() else int(has.argmin()) + int(base)

    return compute


def incomplete_lu(t):
    """Both factors without new elements, in place of the matrix: row after row, as the library does."""

    def compute(m, nnz, descr, values, offsets, indices, info, policy, work):
        v, starts = vector(values, nnz, 1, t), vector(offsets, m + 1, 1, np.int32)
        base = int(starts[0])
        starts, cols = starts - base, vector(indices, nnz, 1, np.int32) - base
        _objects[info].pivot = NO_PIVOT
        diagonal = np.empty(m, np.int64)
        for i in range(m):
            begin, end = starts[i], starts[i + 1]
            place = {int(c): begin + n for n, c in enumerate(cols[begin:end])}
            diagonal[i] = place[i]
            for k in sorted(c for c in place if c < i):
                v[place[k]] /= v[diagonal[k]]
                for n in range(starts[k], starts[k + 1]):
                    if cols[n] > k and int(cols[n]) in place:
                        v[place[int(cols[n])]] -= v[place[k]] * v[n]
            if v[diagonal[i]] == 0 and _objects[info].pivot == NO_PIVOT:
                _objects[info].pivot = i + base

    return compute


def zero_pivot(info, position):
    from cupy_backends.cuda.libs import cusparse

    vector(position, 1, 1, np.int32)[0] = _objects[info].pivot
    if _objects[info].pivot != NO_PIVOT:
        raise cusparse.CuSparseError(ZERO_PIVOT)


def functions():
    every = {
        "spMV": spmv, "spMM": spmm, "spGEMM_compute": spgemm_compute, "spGEMM_copy": spgemm_copy, "spGEAM_nnz": spgeam_nnz,
        "spGEAM": spgeam, "xcsrgeam2Nnz": csrgeam2_nnz, "xcoo2csr": xcoo2csr, "xcsr2coo": xcsr2coo,
        "createIdentityPermutation": identity, "xcoosortByRow": coosort_by_row, "xcoosortByColumn": coosort_by_column,
        "xcsrsort": compressed_sort(0), "xcscsort": compressed_sort(1), "gather": gather, "csr2cscEx2": csr2csc,
        "sparseToDense": sparse_to_dense, "denseToSparse_analysis": dense_to_sparse_analysis,
        "denseToSparse_convert": dense_to_sparse, "spSM_solve": spsm_solve, "xcsrilu02_zeroPivot": zero_pivot,
    }  # fmt: skip
    for letter, t in TYPES.items():
        every |= {letter + "csrgeam2": csrgeam2(t), letter + "nnz_compress": nnz_compress(t), letter + "csr2csr_compress": compress(t)}
        every |= {letter + "csrilu02_analysis": lu_analysis(t), letter + "csrilu02": incomplete_lu(t)}
    return every


def version(handle):
    from cupy_backends.cuda.libs import cusparse

    return cusparse.get_build_version()


def plain():
    made = ("createMatDescr", "spGEMM_createDescr", "spGEAM_createDescr", "spSM_createDescr", "createCsrilu02Info")
    over = ("destroyMatDescr", "spGEMM_destroyDescr", "spGEAM_destroyDescr", "spSM_destroyDescr", "destroySpMat", "destroySpVec",
            "destroyDnVec", "destroyDnMat", "destroyCsrilu02Info")  # fmt: skip
    sizes = ("spMV", "spMM", "spSM", "spGEAM", "sparseToDense", "denseToSparse", "csr2cscEx2",
             *(letter + "csrilu02" for letter in TYPES))  # fmt: skip
    sorts = ("xcoosort", "xcsrsort", "xcscsort", *(letter + "csrgeam2" for letter in TYPES))
    nothing = ("setMatIndexBase", "setMatType", "setMatFillMode", "setMatDiagType", "setPointerMode", "setStream", "spSM_analysis")
    looks = ("csrGet", "cooGet", "dnVecGet", "dnMatGet", "spVecGet")
    return (
        {n: make for n in made} | {n: forget for n in over} | {n: _objects.__getitem__ for n in looks}
        | {f"{n}_bufferSize": lambda *a: WORK for n in sizes} | {f"{n}_bufferSizeExt": lambda *a: WORK for n in sorts}
        | {n: lambda *a: None for n in nothing}
        | {
            "create": lambda: HANDLE, "destroy": lambda handle: None, "getVersion": version, "createCsr": create_csr, "createCsc": create_csc,
            "createCoo": create_coo, "createSpVec": create_sparse_vector, "createDnVec": create_vector, "createDnMat": create_dense,
            "csrSetPointers": set_pointers, "spMatGetSize": entry_without_handle(size_of), "spMatSetAttribute": set_attribute,
            "spGEMM_workEstimation": lambda *a: WORK,
        }
    )  # fmt: skip


def entry_without_handle(function):
    call = entry(function.__name__, function)
    return lambda *arguments: call(None, *arguments)
