# SPDX-License-Identifier: Apache-2.0
"""Factors of matrices as LAPACK has them, where NumPy hands out none or others: LU with the rows that were exchanged, reflections of
QR, triangular systems that may be singular. Matrices are written in place."""
import numpy as np

PANEL = 48  # columns that are eliminated one by one before the rest is


def lu(a, exchange=True):
    """(rows, numbered from 1, that each step exchanged with its own; the first step without a pivot, from 1, or 0)."""
    m, n = a.shape
    steps, wrong = min(m, n), 0
    rows = np.arange(1, steps + 1, dtype=np.int32)
    for begin in range(0, steps, PANEL):
        end = min(begin + PANEL, steps)
        for i in range(begin, end):
            if exchange:
                pivot = i + int(np.argmax(np.abs(a[i:, i])))
                rows[i] = pivot + 1
                if pivot != i:
                    a[[i, pivot]] = a[[pivot, i]]
            if a[i, i] == 0:
                wrong = wrong or i + 1
                continue
            a[i + 1 :, i] /= a[i, i]
            a[i + 1 :, i + 1 : end] -= np.outer(a[i + 1 :, i], a[i, i + 1 : end])
        if end < n:
            a[begin:end, end:] = solve(triangle(a[begin:end, begin:end], False, True), a[begin:end, end:], True)
            a[end:, end:] -= a[end:, begin:end] @ a[begin:end, end:]
    return rows, wrong


def exchanged(b, rows):
    for i, row in enumerate(rows):
        if row != i + 1:
            b[[i, row - 1]] = b[[row - 1, i]]


def solve_lu(a, rows, b, trans):
    """b becomes x of op(P L U) x = b."""
    lower, upper = triangle(a, False, True), triangle(a, True, False)
    if trans == 0:
        exchanged(b, rows)
        b[...] = solve(upper, solve(lower, b, True), False)
        return
    turn = (lambda t: t.T) if trans == 1 else (lambda t: t.T.conj())
    b[...] = solve(turn(lower), solve(turn(upper), b, True), False)
    for i in reversed(range(len(rows))):
        if rows[i] != i + 1:
            b[[i, rows[i] - 1]] = b[[rows[i] - 1, i]]


def triangle(a, upper, unit):
    t = np.triu(a) if upper else np.tril(a)
    if unit:
        np.fill_diagonal(t, 1)
    return t


def solve(t, b, lower):
    """x of t x = b for a triangle; what divides by 0 becomes infinite or NaN, as a substitution makes it."""
    n = len(t)
    if n == 0 or b.size == 0:
        return b.copy()
    if np.all(np.diag(t)) and np.isfinite(t).all():
        return np.linalg.solve(t, b)
    x = b.copy()
    for i in range(n) if lower else reversed(range(n)):
        x[i] /= t[i, i]
        rest = slice(i + 1, None) if lower else slice(0, i)
        x[rest] -= np.outer(t[rest, i], x[i]) if x.ndim == 2 else t[rest, i] * x[i]
    return x


def whole(a, upper):
    """A Hermitian matrix of one of its sides."""
    t = np.triu(a, 1) if upper else np.tril(a, -1)
    return t + t.conj().T + np.diag(np.diag(a).real.astype(a.dtype))


def cholesky(a, upper):
    """In place, that side only; 0, or the order of the first leading part that is not positive definite."""
    full = whole(a, upper)
    side = np.triu_indices(len(a)) if upper else np.tril_indices(len(a))
    good, bad = 0, len(a) + 1
    try:
        factor = np.linalg.cholesky(full)
    except np.linalg.LinAlgError:
        bad = len(a)
        while good + 1 < bad:
            middle = (good + bad) // 2
            try:
                np.linalg.cholesky(full[:middle, :middle])
                good = middle
            except np.linalg.LinAlgError:
                bad = middle
        return bad
    a[side] = (factor.conj().T if upper else factor)[side]
    return 0


def reflected(a):
    """In place R above and the reflections below; their factors."""
    h, tau = np.linalg.qr(a, "raw")
    a[...] = h.T
    return tau.astype(a.dtype)


def reflect(c, a, tau, adjoint, from_left=True):
    """Q c, Q^H c, c Q or c Q^H, in place, for the Q of these reflections."""
    k = len(tau)
    for i in range(k) if adjoint == from_left else reversed(range(k)):
        v = a[i:, i].copy()
        v[0] = 1
        factor = tau[i].conj() if adjoint else tau[i]
        if from_left:
            c[i:] -= factor * np.outer(v, v.conj() @ c[i:])
        else:
            c[:, i:] -= factor * np.outer(c[:, i:] @ v, v.conj())


def q_of(a, tau, columns):
    """The first columns of Q."""
    q = np.eye(a.shape[0], columns, dtype=a.dtype)
    reflect(q, a, tau, False)
    return q
