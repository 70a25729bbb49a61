#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What stands in for cuBLAS, cuSOLVER and cuRAND in CuPy, called as CuPy calls them, on memory of the host. usage: test_cupy_stand_ins.py BUILD_DIR"""
import os
import pathlib
import sys
import types
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: this needs NumPy")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python" / "site"))
capturing = [False]
runtime = types.SimpleNamespace(streamIsCapturing=lambda s: capturing[0], streamSynchronize=lambda s: None, runtimeGetVersion=lambda: 13000)
contents = {
    "cupy": {}, "cupy.cuda": {"get_current_stream": lambda: types.SimpleNamespace(ptr=0)},
    "cupy_backends": {}, "cupy_backends.cuda": {}, "cupy_backends.cuda.api": {"runtime": runtime},
}  # fmt: skip
for name, content in contents.items():
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
import understudy_cupy  # noqa: E402
import understudy_cupy_blas as blas  # noqa: E402
import understudy_cupy_lapack as lapack  # noqa: E402
import understudy_cupy_random as curand  # noqa: E402
import understudy_cupy_sparse as sparse  # noqa: E402

understudy_cupy._said.append(True)
ALL = {**blas.functions(), **lapack.functions(), **sparse.functions()}
PLAIN = sparse.plain()
LETTERS = {np.dtype(t): letter for letter, t in understudy_cupy.TYPES.items()}
random = np.random.default_rng(16)


def made(*shape, dtype="f8"):
    """By columns."""
    x = random.standard_normal(shape)
    return np.asfortranarray((x + 1j * random.standard_normal(shape) if np.dtype(dtype).kind == "c" else x).astype(dtype))


def call(name, dtype, *arguments):
    """Arrays as pointers; numbers that are `np.generic` by reference, as the library has its factors."""
    kept = [np.array(a) if isinstance(a, np.generic) else a for a in arguments]
    given = [a.ctypes.data if isinstance(a, np.ndarray) else a for a in kept]
    name = name.format(LETTERS[np.dtype(dtype)])
    return understudy_cupy.entry(name, ALL[name])(1, *given)


class StandIns(unittest.TestCase):
    def near(self, there, right, tolerance=1e-4):
        np.testing.assert_allclose(there, right, rtol=tolerance, atol=tolerance)

    def each(self):
        for t in ("f4", "f8", "c8", "c16"):
            with self.subTest(t):
                yield np.dtype(t)

    def test_products(self):
        for t in self.each():
            a, b = made(4, 3, dtype=t), made(3, 5, dtype=t)
            for ta, tb in ((0, 0), (1, 0), (0, 2), (2, 1)):
                x, y = (a, a.T, a.T.conj())[ta].copy("F"), (b, b.T, b.T.conj())[tb].copy("F")
                c = made(4, 5, dtype=t)
                before = c.copy()
                call("{}gemm", t, ta, tb, 4, 5, 3, t.type(2), x, len(x), y, len(y), t.type(3), c, 4)
                self.near(c, 2 * a @ b + 3 * before)
            c = np.full((4, 5), np.nan, t, "F")
            call("{}gemm", t, 0, 0, 4, 5, 3, t.type(1), a, 4, b, 3, t.type(0), c, 4)
            self.near(c, a @ b)
            xs, ys, zs = made(4, 3, 2, dtype=t), made(3, 5, 2, dtype=t), np.zeros((4, 5, 2), t, "F")
            call("{}gemmStridedBatched", t, 0, 0, 4, 5, 3, t.type(1), xs, 4, 12, ys, 3, 15, t.type(0), zs, 4, 20, 2)
            self.near(zs[..., 1], xs[..., 1] @ ys[..., 1])
            kind = {"f": 0, "d": 1, "F": 4, "D": 5}[t.char]
            zs[...] = np.nan
            call("gemmStridedBatchedEx", t, 0, 0, 4, 5, 3, t.type(2), xs, kind, 4, 12, ys, kind, 3, 15, t.type(0), zs, kind, 4, 20, 2, kind, 0)
            self.near(zs[..., 0], 2 * xs[..., 0] @ ys[..., 0])
            places = [np.array([s.ctypes.data + i * n * t.itemsize for i in range(2)], np.uint64) for s, n in ((xs, 12), (ys, 15), (zs, 20))]
            zs[...] = 0
            call("{}gemmBatched", t, 0, 0, 4, 5, 3, t.type(1), places[0], 4, places[1], 3, t.type(0), places[2], 4, 2)
            self.near(zs[..., 0], xs[..., 0] @ ys[..., 0])

    def test_halves_are_added_in_32_bits(self):
        a, b, c = np.ones((1, 4096), "f2", "F"), np.ones((4096, 1), "f2", "F"), np.zeros((1, 1), "f2", "F")
        call("gemmEx", "f4", 0, 0, 1, 1, 4096, np.float32(1), a, 2, 1, b, 2, 4096, np.float32(0), c, 2, 1, 68, -1)
        self.assertEqual(c[0, 0], 4096)
        bf = [np.asfortranarray(made(n, m).astype("f4").view("u4") >> 16).astype("u2", order="F") for n, m in ((3, 4), (4, 2))]
        x, y = ((r.astype("u4") << 16).view("f4") for r in bf)
        out = np.zeros((3, 2), "u2", "F")
        call("gemmEx", "f4", 0, 0, 3, 2, 4, np.float32(1), bf[0], 14, 3, bf[1], 14, 4, np.float32(0), out, 14, 3, 68, -1)
        self.near((out.astype("u4") << 16).view("f4"), x @ y, 2**-8)

    def test_vectors(self):
        for t in self.each():
            real = np.dtype(t.char.lower())
            x, y, a = made(5, dtype=t), made(5, dtype=t), made(5, 4, dtype=t)
            out, place, kind = np.zeros(1, t), np.zeros(1, "i4"), {"f": "s", "d": "d", "F": "sc", "D": "dz"}[t.char]
            norm = np.zeros(1, real)
            call(f"{kind}nrm2", t, 5, x, 1, norm)
            self.near(norm[0], np.linalg.norm(x))
            call(f"{kind}asum", t, 5, x, 1, norm)
            self.near(norm[0], (abs(x.real) + abs(x.imag)).sum())
            call("i{}amax", t, 5, x, 1, place)
            self.assertEqual(place[0], 1 + np.argmax(abs(x.real) + abs(x.imag)))
            call("{}dotc" if t.kind == "c" else "{}dot", t, 5, x, 1, y, 1, out)
            self.near(out[0], np.vdot(x, y))
            z, before = made(4, dtype=t), y.copy()
            call("{}gemv", t, 1, 5, 4, t.type(1), a, 5, x, 1, t.type(0), z, 1)
            self.near(z, a.T @ x)
            call("{}axpy", t, 5, t.type(2), x, -1, y, 1)
            self.near(y, before + 2 * x[::-1])

    def test_triangles(self):
        for t in self.each():
            for side, uplo, trans, diag in np.ndindex(2, 2, 3, 2):
                a, b = made(4, 4, dtype=t) + 4 * np.eye(4, dtype=t), made(4, 4, dtype=t)
                a = a.copy("F")
                triangle = np.triu(a) if uplo else np.tril(a)
                if diag:
                    np.fill_diagonal(triangle, 1)
                turned = (triangle, triangle.T, triangle.T.conj())[trans]
                x = b.copy("F")
                call("{}trsm", t, side, uplo, trans, diag, 4, 4, t.type(2), a, 4, x, 4)
                self.near(turned @ x if side == 0 else x @ turned, 2 * b, 1e-3)

    def test_lu(self):
        for t in self.each():
            n = 100  # more than one panel
            a, b = made(n, n, dtype=t), made(n, 2, dtype=t)
            lu, pivots, info = a.copy("F"), np.zeros(n, "i4"), np.ones(1, "i4")
            call("{}getrf", t, n, n, lu, n, 0, pivots, info)
            self.assertEqual(info[0], 0)
            for trans, turned in enumerate((a, a.T, a.T.conj())):
                x = b.copy("F")
                call("{}getrs", t, trans, n, 2, lu, n, pivots, x, n, info)
                self.near(turned @ x, b, 1e-2 if t.char in "fF" else 1e-8)
            wide = made(3, 5, dtype=t)
            factors = wide.copy("F")
            call("{}getrf", t, 3, 5, factors, 3, 0, pivots, info)
            again = (np.tril(factors[:, :3], -1) + np.eye(3)) @ np.triu(factors)
            for i in reversed(range(3)):
                again[[i, pivots[i] - 1]] = again[[pivots[i] - 1, i]]
            self.near(again, wide)
            empty = np.zeros((3, 3), t, "F")
            call("{}getrf", t, 3, 3, empty, 3, 0, pivots, info)
            self.assertEqual(info[0], 1)

    def test_cholesky(self):
        for t in self.each():
            a = made(6, 6, dtype=t)
            a = (a @ a.T.conj() + 6 * np.eye(6)).astype(t).copy("F")
            for uplo in (0, 1):
                factor, info, b = a.copy("F"), np.ones(1, "i4"), made(6, 2, dtype=t)
                call("{}potrf", t, uplo, 6, factor, 6, 0, 0, info)
                side = np.triu(factor) if uplo else np.tril(factor)
                self.near(side.T.conj() @ side if uplo else side @ side.T.conj(), a, 1e-3)
                self.assertEqual(info[0], 0)
                x = b.copy("F")
                call("{}potrs", t, uplo, 6, 2, factor, 6, x, 6, info)
                self.near(a @ x, b, 1e-3)
            bad = a.copy("F")
            bad[3, 3] = -1
            call("{}potrf", t, 1, 6, bad, 6, 0, 0, info)
            self.assertEqual(info[0], 4)

    def test_reflections(self):
        for t in self.each():
            adjoint, own = (2, "un") if t.kind == "c" else (1, "or")
            for m, n in ((6, 4), (4, 4), (3, 5)):
                k = min(m, n)
                a, info, tau = made(m, n, dtype=t), np.ones(1, "i4"), np.zeros(k, t)
                f = a.copy("F")
                call("{}geqrf", t, m, n, f, m, tau, 0, 0, info)
                q = f[:, :k].copy("F")
                call("{}" + own + "gqr", t, m, k, k, q, m, tau, 0, 0, info)
                self.near(q @ np.triu(f)[:k], a)
                self.near(q.T.conj() @ q, np.eye(k))
                whole = np.eye(m, dtype=t, order="F")
                call("{}" + own + "mqr", t, 0, 0, m, m, k, f, m, tau, whole, m, 0, 0, info)
                self.near(whole[:, :k], q)
                call("{}" + own + "mqr", t, 1, adjoint, m, m, k, f, m, tau, whole, m, 0, 0, info)
                self.near(whole, np.eye(m))

    def test_values(self):
        for t in self.each():
            real = np.dtype(t.char.lower())
            a = made(5, 3, dtype=t)
            x, s, info = a.copy("F"), np.zeros(3, real), np.ones(1, "i4")
            u, v = np.zeros((5, 5), t, "F"), np.zeros((3, 3), t, "F")
            call("{}gesvd", t, ord("A"), ord("S"), 5, 3, x, 5, s, u, 5, v, 3, 0, 0, 0, info)
            self.near(u[:, :3] * s @ v, a)
            call("{}gesvdj", t, 1, 0, 5, 3, x, 5, s, u, 5, v, 3, 0, 0, info, 0)
            self.near(u[:, :3] * s @ v.T.conj(), a)
            b = made(4, 4, dtype=t)
            b = (b + b.T.conj()).copy("F")
            w, vectors = np.zeros(4, real), b.copy("F")
            call("{}heevd" if t.kind == "c" else "{}syevd", t, 1, 0, 4, vectors, 4, w, 0, 0, info)
            self.near(b @ vectors, vectors * w, 1e-3)

    def test_sparse(self):
        kinds = {"f4": 0, "f8": 1, "c8": 4, "c16": 5}
        for t in self.each():
            kind = kinds[t.str[1:]]

            def by_rows(a):
                rows, cols = np.nonzero(a)
                offsets = np.searchsorted(rows, np.arange(len(a) + 1)).astype("i4")
                values = a[rows, cols]
                kept = offsets, cols.astype("i4"), values
                return PLAIN["createCsr"](*a.shape, len(cols), *(k.ctypes.data for k in kept), 2, 2, 0, kind), kept

            def matrix(a):
                return PLAIN["createDnMat"](*a.shape, len(a), a.ctypes.data, kind, 1)

            a, b = (made(n, m, dtype=t) * (random.random((n, m)) < 0.5) for n, m in ((5, 4), (4, 6)))
            (left, kept_a), (right, kept_b) = by_rows(a), by_rows(b)
            for op, turned in enumerate((a, a.T, a.T.conj())):
                x, y = made(turned.shape[1], dtype=t), np.full(len(turned), np.nan, t)
                vectors = [PLAIN["createDnVec"](v.size, v.ctypes.data, kind) for v in (x, y)]
                call("spMV", t, op, t.type(2), left, vectors[0], t.type(0), vectors[1], kind, 0, 0)
                self.near(y, 2 * turned @ x)
                x, y = made(turned.shape[1], 3, dtype=t), np.zeros((len(turned), 3), t, "F")
                call("spMM", t, op, 0, t.type(1), left, matrix(x), t.type(0), matrix(y), kind, 0, 0)
                self.near(y, turned @ x)
            offsets = np.zeros(6, "i4")
            product = PLAIN["createCsr"](5, 6, 0, offsets.ctypes.data, 0, 0, 2, 2, 0, kind)
            state, one, none, count = PLAIN["spGEMM_createDescr"](), t.type(1), t.type(0), np.zeros(3, "i8")
            call("spGEMM_compute", t, 0, 0, one, left, right, none, product, kind, 0, state, 8, 1)
            PLAIN["spMatGetSize"](product, *(count.ctypes.data + 8 * i for i in range(3)))
            indices, values = np.zeros(count[2], "i4"), np.zeros(count[2], t)
            PLAIN["csrSetPointers"](product, offsets.ctypes.data, indices.ctypes.data, values.ctypes.data)
            call("spGEMM_copy", t, 0, 0, one, left, right, none, product, kind, 0, state)
            out = np.zeros((5, 6), t, "F")
            call("sparseToDense", t, product, matrix(out), 0, 0)
            self.near(out, a @ b)
            c = made(5, 4, dtype=t) * (random.random((5, 4)) < 0.5)
            _, kept_c = by_rows(c)
            offsets, total = np.zeros(6, "i4"), np.zeros(1, "i4")
            call("xcsrgeam2Nnz", t, 5, 4, 0, len(kept_a[1]), *kept_a[:2], 0, len(kept_c[1]), *kept_c[:2], 0, offsets, total, 0)
            indices, values = np.zeros(total[0], "i4"), np.zeros(total[0], t)
            each = [(x[2], x[0], x[1]) for x in (kept_a, kept_c)]
            call("{}csrgeam2", t, 5, 4, t.type(2), 0, len(kept_a[1]), *each[0], t.type(3), 0, len(kept_c[1]), *each[1], 0, values, offsets, indices, 0)
            out = np.zeros((5, 4), t)
            out[sparse.lines(offsets), indices] = values
            self.near(out, 2 * a + 3 * c)
            triangle = (np.tril(made(4, 4, dtype=t)) + 4 * np.eye(4)).astype(t).copy("F")
            lower, kept_l = by_rows(triangle)
            x, y = made(4, 2, dtype=t), np.zeros((4, 2), t, "F")
            call("spSM_solve", t, 0, 0, one, lower, matrix(x), matrix(y), kind, 0, 0)
            self.near(triangle @ y, x)
            PLAIN["spMatSetAttribute"](lower, 1, 1)  # the diagonal counts as ones
            call("spSM_solve", t, 0, 0, one, lower, matrix(x), matrix(y), kind, 0, 0)
            self.near((np.tril(triangle, -1) + np.eye(4)) @ y, x, 1e-3)

    def test_orders_of_sparse(self):
        rows, cols, places = (np.array(v, "i4") for v in ((2, 0, 1, 0), (1, 3, 0, 2), range(4)))
        call("xcoosortByRow", "f4", 3, 4, 4, rows, cols, places, 0)
        self.assertEqual((list(rows), list(cols), list(places)), ([0, 0, 1, 2], [2, 3, 0, 1], [3, 1, 2, 0]))
        offsets = np.zeros(4, "i4")
        call("xcoo2csr", "f4", rows, 4, 3, offsets, 0)
        self.assertEqual(list(offsets), [0, 2, 3, 4])
        values, out, at, lines = np.arange(4, dtype="f4"), np.zeros(4, "f4"), np.zeros(5, "i4"), np.zeros(4, "i4")
        call("csr2cscEx2", "f4", 3, 4, 4, values, offsets, cols, out, at, lines, 0, 1, 0, 1, 0)
        self.assertEqual((list(at), list(lines), list(out)), ([0, 1, 2, 3, 4], [1, 2, 0, 0], [2, 3, 0, 1]))

    def test_incomplete_lu(self):
        class Failed(RuntimeError):
            def __init__(self, status):
                super().__init__(str(status))

        for name, content in (("cupy_backends.cuda.libs", {}), ("cupy_backends.cuda.libs.cusparse", {"CuSparseError": Failed})):
            sys.modules[name] = types.ModuleType(name)
            vars(sys.modules[name]).update(content)
        sys.modules["cupy_backends.cuda.libs"].cusparse = sys.modules["cupy_backends.cuda.libs.cusparse"]
        for t in self.each():
            whole = made(6, 6, dtype=t)
            whole += 8 * np.eye(6, dtype=t)
            whole[0, 5] = whole[5, 0] = whole[2, 4] = 0
            rows, cols = np.nonzero(whole)
            offsets, cols = np.searchsorted(rows, np.arange(7)).astype("i4"), cols.astype("i4")
            values, at = whole[whole != 0], np.zeros(1, "i4")
            given = (6, len(cols), 0, values, offsets, cols, (info := PLAIN["createCsrilu02Info"]()))
            self.assertGreater(PLAIN[LETTERS[t] + "csrilu02_bufferSize"](1, *given), 0)
            call("{}csrilu02_analysis", t, *given, 0, 0)
            call("xcsrilu02_zeroPivot", t, info, at)
            call("{}csrilu02", t, *given, 0, 0)
            call("xcsrilu02_zeroPivot", t, info, at)
            factors = np.zeros_like(whole)
            factors[rows, cols] = values
            product = (np.tril(factors, -1) + np.eye(6)) @ np.triu(factors)
            self.near(product[rows, cols], whole[rows, cols])  # equal where the matrix has elements
        empty = np.array([0, 1, 1, 2], "i4"), np.array([0, 2], "i4")
        call("dcsrilu02_analysis", "f8", 3, 2, 0, np.ones(2), *empty, info, 0, 0)
        with self.assertRaises(Failed):
            call("xcsrilu02_zeroPivot", "f8", info, at)
        self.assertEqual(at[0], 1)
        PLAIN["destroyCsrilu02Info"](info)

    def test_generators(self):
        there = curand.plain()
        first, second = np.zeros(1000, "f8"), np.zeros(1000, "f8")
        place = there["createGenerator"](100)
        for out in (first, second):
            there["setPseudoRandomGeneratorSeed"](place, 7)
            there["setGeneratorOffset"](place, 0)
            there["generateUniformDouble"](place, out.ctypes.data, 1000)
        self.assertTrue((first == second).all() and 0 < first.min() and first.max() <= 1 and 0.45 < first.mean() < 0.55)
        there["generateNormalDouble"](place, first.ctypes.data, 1000, 5.0, 0.5)
        self.assertTrue(4.9 < first.mean() < 5.1 and 0.45 < first.std() < 0.55)
        there["destroyGenerator"](place)

    def test_what_is_missing_and_captures_are_refused_by_name(self):
        module = types.ModuleType("cupy_backends.cuda.libs.cublas")
        exec("def create(): return 77\ndef sgemm(*a): return 'own'\ndef odd(handle): return 'own'\nN = 3", vars(module))
        for f in (module.create, module.sgemm, module.odd):
            f.__module__ = module.__name__
        os.environ["UNDERSTUDY_CUPY_VIA"] = "off"
        understudy_cupy.serve(module)
        self.assertEqual(module.odd(1), "own")
        del os.environ["UNDERSTUDY_CUPY_VIA"]
        understudy_cupy.serve(module)
        self.assertEqual((module.create(), module.N, module.sgemm.__name__), (1, 3, "sgemm"))
        with self.assertRaisesRegex(NotImplementedError, "cublas.odd"):
            module.odd(1)
        capturing[0] = True
        self.addCleanup(capturing.__setitem__, 0, False)
        with self.assertRaisesRegex(NotImplementedError, "captured"):
            module.sgemm(1)


unittest.main(argv=sys.argv[:1])
