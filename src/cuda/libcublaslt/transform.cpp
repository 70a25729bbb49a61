// SPDX-License-Identifier: Apache-2.0
// c = alpha op(a) + beta op(b), which may change types and orders.
#include "cuda/libcublaslt/numbers.h"

using namespace us::cublaslt;

namespace {

template <class X>
X operand(const void* p, const Layout& l, int32_t op, i64 batch, i64 i, i64 j) {
  const void* const at = advance(const_cast<void*>(p), type(l.type), batch * l.stride);
  const X x = get<X>(at, type(l.type), op == CUBLAS_OP_N ? place(l, i, j) : place(l, j, i));
  if constexpr (std::is_same_v<X, Complex>) return op == CUBLAS_OP_C ? std::conj(x) : x;
  return x;
}

bool shaped(const Layout& from, int32_t op, const Layout& to) {
  return (op == CUBLAS_OP_N ? from.rows : from.columns) == to.rows &&
         (op == CUBLAS_OP_N ? from.columns : from.rows) == to.columns;
}

}  // namespace

US_API cublasStatus_t cublasLtMatrixTransform(cublasLtHandle_t h, cublasLtMatrixTransformDesc_t description,
                                              const void* alpha, const void* a, cublasLtMatrixLayout_t layout_a,
                                              const void* beta, const void* b, cublasLtMatrixLayout_t layout_b, void* c,
                                              cublasLtMatrixLayout_t layout_c, cudaStream_t stream) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!description || !layout_a || !layout_c || !alpha || !a || !c) return CUBLAS_STATUS_INVALID_VALUE;
  const Transform t = *inside(description);
  const auto scale = type(t.scale_type);
  const Layout la = *inside(layout_a), lc = *inside(layout_c), lb = layout_b ? *inside(layout_b) : lc;
  const Factor x(alpha, scale, t.pointers), y = beta ? Factor(beta, scale, t.pointers) : Factor();
  const bool with_b = b && !y.zero();
  if (!shaped(la, t.op_a, lc) || (with_b && !shaped(lb, t.op_b, lc)) || !holds(la) || !holds(lc) ||
      la.count != lc.count || (!b && !y.zero()))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!known(la.order) || !known(lb.order) || !known(lc.order)) return CUBLAS_STATUS_NOT_SUPPORTED;
  us::host_work::Touched touched;
  for (int32_t i = 0; i < lc.count; ++i) {
    touch_matrix(touched, a, la, i, false), touch_matrix(touched, c, lc, i, true);
    if (with_b) touch_matrix(touched, b, lb, i, false);
  }
  const bool done = us::host_work::run_in(stream, touched, [=] {
    const auto all = [&]<class X>(X) {
      for (i64 batch = 0; batch < lc.count; ++batch)
        for (i64 j = 0; j < static_cast<i64>(lc.columns); ++j)
          for (i64 i = 0; i < static_cast<i64>(lc.rows); ++i) {
            X sum = x.get<X>(0, 0) * operand<X>(a, la, t.op_a, batch, i, j);
            if (with_b) sum += y.get<X>(0, 0) * operand<X>(b, lb, t.op_b, batch, i, j);
            put(advance(c, type(lc.type), batch * lc.stride), type(lc.type), place(lc, i, j), sum);
          }
    };
    x.complex() ? all(Complex{}) : all(double{});
  });
  return done ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
