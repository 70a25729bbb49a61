// SPDX-License-Identifier: Apache-2.0
// d = epilogue(alpha op(a) op(b) + beta c): a product by the system's BLAS, then one pass over its sums.
#include <cmath>

#include "cuda/host_work/host_work.h"
#include "cuda/libcublas/products.h"
#include "cuda/libcublaslt/numbers.h"

using namespace us::cublaslt;
using us::cublas::bytes_of;
using us::cublas::Product;
using us::host_work::Touched;

namespace {

bool has(uint32_t epilogue, uint32_t part) { return (epilogue & part) == part; }
constexpr uint32_t kRelu = CUBLASLT_EPILOGUE_RELU, kGelu = CUBLASLT_EPILOGUE_GELU, kBias = CUBLASLT_EPILOGUE_BIAS;
constexpr uint32_t kReluBack = 8, kGeluBack = 64, kBiasGradient = 16, kAux = 128;

// One call. What it points at is the program's until its work has run.
struct Matmul {
  Operation o;
  Layout a, b, c, d;
  const void *at_a, *at_b, *at_c;
  void* at_d;
  Factor alpha, beta;

  i64 m() const { return static_cast<i64>(d.rows); }
  i64 n() const { return static_cast<i64>(d.columns); }
  i64 k() const { return static_cast<i64>(o.op_a == CUBLAS_OP_N ? a.columns : a.rows); }
  cudaDataType bias_type() const {
    return o.bias_type >= 0      ? type(o.bias_type)
           : eight(type(d.type)) ? (type(c.type) == CUDA_R_16F ? CUDA_R_16F : CUDA_R_16BF)
                                 : type(d.type);
  }
  cudaDataType aux_type() const { return o.aux_type >= 0 ? type(o.aux_type) : type(d.type); }
};

bool real_float(cudaDataType t) { return t == CUDA_R_16F || t == CUDA_R_16BF || t == CUDA_R_32F; }

// Which types go together.
bool types_fit(const Operation& o, cudaDataType a, cudaDataType b, cudaDataType c, cudaDataType d) {
  const auto scale = type(o.scale_type);
  switch (o.compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return a == CUDA_R_16F && b == a && c == a && d == a && scale == a;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return (a == CUDA_R_64F || a == CUDA_C_64F) && b == a && c == a && d == a && scale == a;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      if (a != CUDA_R_8I || b != a || c != d) return false;
      return scale == CUDA_R_32I ? d == CUDA_R_32I : scale == CUDA_R_32F && d == CUDA_R_8I;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      if (a == CUDA_C_32F) return b == a && c == a && d == a && scale == a;
      if (scale != CUDA_R_32F) return false;
      if (eight(a) || eight(b))
        return eight(a) && eight(b) && !(a == CUDA_R_8F_E5M2 && b == a) && real_float(c) &&
               (d == c || (eight(d) && c != CUDA_R_32F));
      if (a == CUDA_R_8I) return b == a && c == CUDA_R_32F && d == c;
      return real_float(a) && b == a && c == d && (d == a || d == CUDA_R_32F);
    default:
      return false;
  }
}

constexpr uint32_t kEpilogues[] = {
    CUBLASLT_EPILOGUE_DEFAULT,  CUBLASLT_EPILOGUE_RELU,        CUBLASLT_EPILOGUE_RELU_AUX,
    CUBLASLT_EPILOGUE_BIAS,     CUBLASLT_EPILOGUE_RELU_BIAS,   CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
    CUBLASLT_EPILOGUE_DRELU,    CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_GELU,
    CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_BIAS,   CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
    CUBLASLT_EPILOGUE_DGELU,    CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA,
    CUBLASLT_EPILOGUE_BGRADB};

cublasStatus_t check(const Operation& o, const Layout& a, const Layout& b, const Layout& c, const Layout& d) {
  const bool plain_a = o.op_a == CUBLAS_OP_N, plain_b = o.op_b == CUBLAS_OP_N;
  if ((plain_a ? a.rows : a.columns) != d.rows || (plain_b ? b.columns : b.rows) != d.columns ||
      (plain_a ? a.columns : a.rows) != (plain_b ? b.rows : b.columns) || c.rows != d.rows || c.columns != d.columns)
    return CUBLAS_STATUS_INVALID_VALUE;
  for (const Layout* l : {&a, &b, &c, &d}) {
    if (!known(l->order)) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (!holds(*l)) return CUBLAS_STATUS_INVALID_VALUE;
    if (l->batch_mode != CUBLASLT_BATCH_MODE_STRIDED) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (l->count != d.count) return CUBLAS_STATUS_INVALID_VALUE;
    if (!us::cublas::fit(static_cast<i64>(l->rows), static_cast<i64>(l->columns), l->ld))
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const auto ta = type(a.type);
  const bool complex = ta == CUDA_C_32F || ta == CUDA_C_64F;
  bool right = o.op_c == CUBLAS_OP_N && types_fit(o, ta, type(b.type), type(c.type), type(d.type));
  right = right && std::find(std::begin(kEpilogues), std::end(kEpilogues), o.epilogue) != std::end(kEpilogues);
  right = right && !(complex && o.epilogue != CUBLASLT_EPILOGUE_DEFAULT);
  // A matrix by rows is the transpose of one by columns; its conjugate alone BLAS has not.
  right = right && !((a.order && o.op_a == CUBLAS_OP_C && complex) || (b.order && o.op_b == CUBLAS_OP_C && complex));
  // As on a device of this kind: eight-bit numbers are read along the sum only.
  right = right && !(eight(ta) && ((o.op_a == CUBLAS_OP_N) != (a.order == CUBLASLT_ORDER_ROW) ||
                                   (o.op_b == CUBLAS_OP_N) != (b.order == CUBLASLT_ORDER_COL)));
  for (const int32_t mode : o.scale_modes) right = right && mode == 0;
  return right ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasOperation_t turned(int32_t op, const Layout& l) {
  if (l.order == CUBLASLT_ORDER_COL) return static_cast<cublasOperation_t>(op);
  return op == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
}

double gelu(double x, double* slope) {
  const double k = std::sqrt(2 / std::acos(-1.0)), t = std::tanh(k * (x + 0.044715 * x * x * x));
  if (slope) *slope = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x);
  return 0.5 * x * (1 + t);
}

// What the epilogue does to one number.
class Epilogue {
 public:
  Epilogue(const Matmul& call, i64 batch) : p_(call), e_(call.o.epilogue) {
    bias_ = advance(call.o.bias, call.bias_type(), batch * call.o.bias_stride);
    aux_ = advance(call.o.aux, call.aux_type(), mask() ? 0 : batch * call.o.aux_stride);
    if (mask()) aux_ = static_cast<char*>(call.o.aux) + batch * call.o.aux_stride / 8;
    if (has(e_, kBiasGradient)) gradient_.resize(static_cast<size_t>(call.m()));
  }
  double operator()(double x, i64 i, i64 j) {
    if (has(e_, kBias)) x += get<double>(bias_, p_.bias_type(), i);
    const i64 at = j * p_.o.aux_ld + i;
    if (has(e_, kReluBack)) x = bit(at) ? x : 0;
    if (has(e_, kGeluBack)) {
      double slope;
      gelu(get<double>(aux_, p_.aux_type(), at), &slope);
      x *= slope;
    }
    if (has(e_, kRelu)) {
      if (has(e_, kAux)) set_bit(at, x > 0);
      x = x > 0 || std::isnan(x) ? x : 0;
    }
    if (has(e_, kGelu)) {
      if (has(e_, kAux)) put(aux_, p_.aux_type(), at, x);
      x = gelu(x, nullptr);
    }
    if (!gradient_.empty()) gradient_[static_cast<size_t>(i)] += x;
    return x;
  }
  void finish() {
    for (size_t i = 0; i < gradient_.size(); ++i) put(bias_, p_.bias_type(), static_cast<i64>(i), gradient_[i]);
  }
  // The rectifier's mask is a bit for each number.
  bool mask() const { return has(e_, kAux) && (has(e_, kRelu) || has(e_, kReluBack)); }

 private:
  bool bit(i64 at) const { return static_cast<const unsigned char*>(aux_)[at / 8] >> (at % 8) & 1; }
  void set_bit(i64 at, bool on) {
    auto& byte = static_cast<unsigned char*>(aux_)[at / 8];
    byte = static_cast<unsigned char>((byte & ~(1 << (at % 8))) | on << (at % 8));
  }
  const Matmul& p_;
  const uint32_t e_;
  void *bias_, *aux_;
  std::vector<double> gradient_;
};

double scale(const void* p) { return p ? static_cast<double>(*static_cast<const float*>(p)) : 1; }

// Sums of one operand's numbers along k.
void operand_gradient(const Matmul& p, i64 batch) {
  const bool of_a = p.o.epilogue == CUBLASLT_EPILOGUE_BGRADA;
  const Layout& l = of_a ? p.a : p.b;
  const auto t = type(l.type);
  const void* const from = advance(const_cast<void*>(of_a ? p.at_a : p.at_b), t, batch * l.stride);
  void* const to = advance(p.o.bias, p.bias_type(), batch * p.o.bias_stride);
  const bool turned = (of_a ? p.o.op_a : p.o.op_b) != CUBLAS_OP_N;
  for (i64 i = 0; i < (of_a ? p.m() : p.n()); ++i) {
    double sum = 0;
    for (i64 k = 0; k < p.k(); ++k) sum += get<double>(from, t, of_a != turned ? place(l, i, k) : place(l, k, i));
    put(to, p.bias_type(), i, sum);
  }
}

// X: double or a complex number of it.
template <class X>
void compute(const Matmul& p, i64 batch, double* largest) {
  const auto ta = type(p.a.type), tb = type(p.b.type), tc = type(p.c.type), td = type(p.d.type);
  const cudaDataType own = ta == CUDA_R_8I                                            ? CUDA_R_32I
                           : ta == CUDA_R_64F || ta == CUDA_C_64F || ta == CUDA_C_32F ? ta
                                                                                      : CUDA_R_32F;
  const i64 m = p.m(), n = p.n(), ld = std::max<i64>(1, m);
  std::vector<unsigned char> sums(static_cast<size_t>(m * n) * bytes_of(own));
  const Product product{
      turned(p.o.op_a, p.a), turned(p.o.op_b, p.b), m, n, p.k(), ta, tb, own, p.a.ld, p.b.ld, ld, own};
  alignas(16) unsigned char one[16] = {}, zero[16] = {};
  put(one, own, 0, X(1));
  us::cublas::multiply(product, one, advance(const_cast<void*>(p.at_a), ta, batch * p.a.stride),
                       advance(const_cast<void*>(p.at_b), tb, batch * p.b.stride), zero, sums.data());
  const void* const c = advance(const_cast<void*>(p.at_c), tc, batch * p.c.stride);
  void* const d = advance(p.at_d, td, batch * p.d.stride);
  const double factor = scale(p.o.scale_a) * scale(p.o.scale_b), factor_c = scale(p.o.scale_c);
  const double factor_d = eight(td) ? scale(p.o.scale_d) : 1;
  Epilogue epilogue(p, batch);
  for (i64 j = 0; j < n; ++j)
    for (i64 i = 0; i < m; ++i) {
      X x = p.alpha.template get<X>(i, batch * p.o.alpha_stride) * factor * get<X>(sums.data(), own, j * ld + i);
      if (const X old = p.beta.template get<X>(i, batch * p.o.alpha_stride); old != X{})
        x += old * factor_c * get<X>(c, tc, place(p.c, i, j));
      if constexpr (std::is_same_v<X, double>) {
        x = epilogue(x, i, j);
        *largest = std::max(*largest, std::fabs(x));
      }
      put(d, td, place(p.d, i, j), x * factor_d);
    }
  epilogue.finish();
  if (p.o.epilogue == CUBLASLT_EPILOGUE_BGRADA || p.o.epilogue == CUBLASLT_EPILOGUE_BGRADB) operand_gradient(p, batch);
}

void touch(Touched& t, const Matmul& p) {
  const auto matrix = [&](const void* at, const Layout& l, bool writes) {
    for (int32_t i = 0; i < l.count; ++i) touch_matrix(t, at, l, i, writes);
  };
  matrix(p.at_a, p.a, false), matrix(p.at_b, p.b, false);
  if (p.at_c && !p.beta.zero()) matrix(p.at_c, p.c, false);
  matrix(p.at_d, p.d, true);
  const uint32_t e = p.o.epilogue;
  const bool of_operand = e == CUBLASLT_EPILOGUE_BGRADA || e == CUBLASLT_EPILOGUE_BGRADB;
  if (of_operand || has(e, kBias) || has(e, kBiasGradient))
    for (int32_t i = 0; i < p.d.count; ++i)
      t.vector(advance(p.o.bias, p.bias_type(), i * p.o.bias_stride), e == CUBLASLT_EPILOGUE_BGRADB ? p.n() : p.m(), 1,
               bytes_of(p.bias_type()), !has(e, kBias));
  if (has(e, kAux) && !Epilogue(p, 0).mask())
    for (int32_t i = 0; i < p.d.count; ++i)
      t.matrix(advance(p.o.aux, p.aux_type(), i * p.o.aux_stride), p.m(), p.n(), p.o.aux_ld, bytes_of(p.aux_type()),
               !has(e, kGeluBack));
}

}  // namespace

US_API cublasStatus_t cublasLtMatmul(cublasLtHandle_t h, cublasLtMatmulDesc_t operation, const void* alpha,
                                     const void* a, cublasLtMatrixLayout_t layout_a, const void* b,
                                     cublasLtMatrixLayout_t layout_b, const void* beta, const void* c,
                                     cublasLtMatrixLayout_t layout_c, void* d, cublasLtMatrixLayout_t layout_d,
                                     const cublasLtMatmulAlgo_t*, void*, size_t, cudaStream_t stream) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!operation || !layout_a || !layout_b || !layout_c || !layout_d || !alpha) return CUBLAS_STATUS_INVALID_VALUE;
  const Operation& o = *inside(operation);
  if (const auto r = check(o, *inside(layout_a), *inside(layout_b), *inside(layout_c), *inside(layout_d)); r) return r;
  if (o.pointers > CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST) return CUBLAS_STATUS_INVALID_VALUE;
  const auto scale = type(o.scale_type);
  const bool no_beta = o.pointers == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO;
  if (!beta && !no_beta) return CUBLAS_STATUS_INVALID_VALUE;
  const auto alpha_mode =
      o.pointers > CUBLASLT_POINTER_MODE_DEVICE ? int32_t{CUBLASLT_POINTER_MODE_DEVICE_VECTOR} : o.pointers;
  const auto beta_mode =
      o.pointers > CUBLASLT_POINTER_MODE_DEVICE_VECTOR ? int32_t{CUBLASLT_POINTER_MODE_HOST} : o.pointers;
  const Matmul call{o,
                    *inside(layout_a),
                    *inside(layout_b),
                    *inside(layout_c),
                    *inside(layout_d),
                    a,
                    b,
                    c,
                    d,
                    Factor(alpha, scale, alpha_mode),
                    no_beta ? Factor() : Factor(beta, scale, beta_mode)};
  if (!call.m() || !call.n() || !call.d.count) return CUBLAS_STATUS_SUCCESS;
  const bool wants_aux = has(o.epilogue, kAux);
  const bool wants_bias = has(o.epilogue, kBias) || has(o.epilogue, kBiasGradient) || o.epilogue >= 256;
  if (!a || !b || !d || (!c && !call.beta.zero()) || (wants_aux && (!o.aux || o.aux_ld < call.m())) ||
      (wants_bias && !o.bias))
    return CUBLAS_STATUS_INVALID_VALUE;
  Touched t;
  touch(t, call);
  const bool done = us::host_work::run_in(stream, t, [call] {
    double largest = 0;
    for (int32_t i = 0; i < call.d.count; ++i)
      call.alpha.complex() ? compute<Complex>(call, i, &largest) : compute<double>(call, i, &largest);
    if (call.o.largest_d) *static_cast<float*>(call.o.largest_d) = static_cast<float>(largest);
  });
  return done ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

US_API cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t h, cublasLtMatmulDesc_t o, cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                                              cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t* algorithm,
                                              cublasLtMatmulHeuristicResult_t* result) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!o || !a || !b || !c || !d || !algorithm || !result) return CUBLAS_STATUS_INVALID_VALUE;
  const auto r = check(*inside(o), *inside(a), *inside(b), *inside(c), *inside(d));
  *result = {};
  result->algo = *algorithm, result->state = r, result->wavesCount = 1;
  return r;
}
US_API cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t h, cublasLtMatmulDesc_t o,
                                                     cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                                     cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                                     cublasLtMatmulPreference_t, int wanted,
                                                     cublasLtMatmulHeuristicResult_t results[], int* found) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (wanted < 1 || !results || !found) return CUBLAS_STATUS_INVALID_VALUE;
  const cublasLtMatmulAlgo_t only = {};
  const auto r = cublasLtMatmulAlgoCheck(h, o, a, b, c, d, &only, results);
  *found = r == CUBLAS_STATUS_SUCCESS ? 1 : 0;
  return r;
}
