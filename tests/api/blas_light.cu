// SPDX-License-Identifier: Apache-2.0
// flags: -lcublasLt -lcublas
// needs: cublasLt.h
// ours only: values are compared with a reference in 64 bits, computed here
// cuBLASLt: products of all types, orders by columns and rows, batches, factors on the device and one for each row,
// epilogues (bias, rectifiers, GELU, their gradients), eight-bit floats with scales, transforms, a graph, refusals.
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "api.h"

namespace {
cublasLtHandle_t h;
bool good = true;
constexpr int m = 6, n = 4, k = 5;

void expect(bool right, const char* what) {
  if (right) return;
  std::printf("WRONG: %s\n", what);
  good = false;
}
void done(cublasStatus_t s, const char* what) {
  if (s != CUBLAS_STATUS_SUCCESS) std::printf("%s: %s\n", what, cublasLtGetStatusName(s));
  expect(s == CUBLAS_STATUS_SUCCESS, what);
}
template <class T>
T* managed(size_t count) {
  T* p;
  MUST(cudaMallocManaged(&p, count * sizeof(T)));
  std::memset(static_cast<void*>(p), 0, count * sizeof(T));
  return p;
}
template <class T>
constexpr cudaDataType kType = CUDA_R_32F;
template <>
constexpr cudaDataType kType<double> = CUDA_R_64F;
template <>
constexpr cudaDataType kType<__half> = CUDA_R_16F;
template <>
constexpr cudaDataType kType<__nv_bfloat16> = CUDA_R_16BF;
template <>
constexpr cudaDataType kType<int8_t> = CUDA_R_8I;
template <>
constexpr cudaDataType kType<int> = CUDA_R_32I;
template <>
constexpr cudaDataType kType<__nv_fp8_e4m3> = CUDA_R_8F_E4M3;
template <>
constexpr cudaDataType kType<__nv_fp8_e5m2> = CUDA_R_8F_E5M2;
template <class T>
double wide(T x) {
  return static_cast<double>(static_cast<float>(x));
}
double wide(double x) { return x; }
double wide(int x) { return x; }
template <class T>
T narrow(double x) {
  return T(static_cast<float>(x));
}

// A matrix in memory of both, by columns or by rows, of which each line has one number more than it needs.
template <class T>
struct Matrix {
  int rows, columns, ld, count;
  bool by_rows;
  T* v;
  cublasLtMatrixLayout_t layout;
  Matrix(int rows, int columns, int seed, bool by_rows = false, int count = 1)
      : rows(rows), columns(columns), ld((by_rows ? columns : rows) + 1), count(count), by_rows(by_rows) {
    v = managed<T>(size() * count);
    for (int b = 0; b < count; ++b)
      for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) at(i, j, b) = narrow<T>((i * 3 + j * 5 + i * j + seed + 7 * b) % 9 - 4);
    done(cublasLtMatrixLayoutCreate(&layout, kType<T>, rows, columns, ld), "layout");
    if (by_rows) set(CUBLASLT_MATRIX_LAYOUT_ORDER, int32_t{CUBLASLT_ORDER_ROW});
    if (count > 1) {
      set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t{count});
      set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, static_cast<int64_t>(size()));
    }
  }
  ~Matrix() { done(cublasLtMatrixLayoutDestroy(layout), "layout"); }
  Matrix(const Matrix&) = delete;
  int size() const { return ld * (by_rows ? rows : columns); }
  T& at(int i, int j, int b = 0) const { return v[b * size() + (by_rows ? i * ld + j : j * ld + i)]; }
  double operator()(int i, int j, int b = 0) const { return wide(at(i, j, b)); }
  template <class V>
  void set(cublasLtMatrixLayoutAttribute_t a, V x) {
    done(cublasLtMatrixLayoutSetAttribute(layout, a, &x, sizeof x), "layout attribute");
  }
};

struct Operation {
  cublasLtMatmulDesc_t o;
  Operation(cublasComputeType_t compute, cudaDataType scale) {
    done(cublasLtMatmulDescCreate(&o, compute, scale), "operation");
  }
  ~Operation() { done(cublasLtMatmulDescDestroy(o), "operation"); }
  template <class V>
  Operation& set(cublasLtMatmulDescAttributes_t a, V x) {
    done(cublasLtMatmulDescSetAttribute(o, a, &x, sizeof x), "operation attribute");
    return *this;
  }
  Operation& turn(bool a, bool b) {
    return set(CUBLASLT_MATMUL_DESC_TRANSA, int32_t{a ? CUBLAS_OP_T : CUBLAS_OP_N})
        .set(CUBLASLT_MATMUL_DESC_TRANSB, int32_t{b ? CUBLAS_OP_T : CUBLAS_OP_N});
  }
};

template <class A, class B, class C, class D, class S>
void run(const Operation& o, const S* alpha, const Matrix<A>& a, const Matrix<B>& b, const S* beta, const Matrix<C>& c,
         const Matrix<D>& d, const char* what, cudaStream_t stream = nullptr) {
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulHeuristicResult_t found;
  int count = 0;
  uint64_t workspace = 1 << 20;
  done(cublasLtMatmulPreferenceCreate(&preference), "preference");
  done(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                            sizeof workspace),
       "preference");
  done(cublasLtMatmulAlgoGetHeuristic(h, o.o, a.layout, b.layout, c.layout, d.layout, preference, 1, &found, &count),
       what);
  expect(count == 1 && found.state == CUBLAS_STATUS_SUCCESS && found.workspaceSize <= workspace, what);
  done(cublasLtMatmul(h, o.o, alpha, a.v, a.layout, b.v, b.layout, beta, c.v, c.layout, d.v, d.layout, &found.algo,
                      nullptr, 0, stream),
       what);
  done(cublasLtMatmulPreferenceDestroy(preference), "preference");
  if (!stream) MUST(cudaDeviceSynchronize());
}
template <class A, class B>
double sum(const Matrix<A>& a, bool turn_a, const Matrix<B>& b, bool turn_b, int i, int j, int batch = 0) {
  double s = 0;
  for (int l = 0; l < k; ++l)
    s += (turn_a ? a(l, i, batch) : a(i, l, batch)) * (turn_b ? b(j, l, batch) : b(l, j, batch));
  return s;
}
template <class D>
void same(const Matrix<D>& d, const char* what, const std::function<double(int, int, int)>& want, double off = 0) {
  for (int b = 0; b < d.count; ++b)
    for (int j = 0; j < d.columns; ++j)
      for (int i = 0; i < d.rows; ++i) {
        const double w = want(i, j, b), x = d(i, j, b);
        if (!(std::fabs(x - w) <= off * std::fmax(1, std::fabs(w)))) {
          std::printf("WRONG: %s: %d %d %d is %g, not %g\n", what, i, j, b, x, w);
          good = false;
          return;
        }
      }
}

// Small whole numbers, so every type and order of adding gives exactly this.
template <class T, class D, class S>
void products(cublasComputeType_t compute, const char* what) {
  const S alpha = S(2), beta = S(1);
  for (int kind = 0; kind < 16; ++kind) {
    const bool turn_a = kind & 1, turn_b = kind & 2, by_rows = kind & 4;
    const int count = kind & 8 ? 3 : 1;
    Matrix<T> a(turn_a ? k : m, turn_a ? m : k, 1, by_rows, count), b(turn_b ? n : k, turn_b ? k : n, 2, false, count);
    Matrix<D> c(m, n, 3, false, count), d(m, n, 4, by_rows, count);
    Operation o(compute, kType<S>);
    o.turn(turn_a, turn_b);
    run(o, &alpha, a, b, &beta, c, d, what);
    same(d, what, [&](int i, int j, int x) { return 2 * sum(a, turn_a, b, turn_b, i, j, x) + c(i, j, x); });
  }
}

double gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

template <class T>
void epilogues(double off) {
  const float alpha = 0.25f, zero = 0;
  Matrix<T> a(m, k, 1), b(k, n, 2), d(m, n, 3), aux(m, n, 4), other(m, n, 5);
  T* bias = managed<T>(m);
  for (int i = 0; i < m; ++i) bias[i] = narrow<T>(i - 2.5);
  const auto x = [&](int i, int j) { return 0.25 * sum(a, false, b, false, i, j); };
  const auto with = [&](cublasLtEpilogue_t e, const char* what) {
    Operation o(CUBLAS_COMPUTE_32F, CUDA_R_32F);
    o.set(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<uint32_t>(e)).set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    o.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux.v);
    o.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t{aux.ld});
    run(o, &alpha, a, b, &zero, d, d, what);
  };
  with(CUBLASLT_EPILOGUE_BIAS, "bias");
  same(d, "bias", [&](int i, int j, int) { return x(i, j) + i - 2.5; }, off);
  with(CUBLASLT_EPILOGUE_RELU, "relu");
  same(d, "relu", [&](int i, int j, int) { return std::fmax(0, x(i, j)); }, off);
  with(CUBLASLT_EPILOGUE_RELU_BIAS, "relu, bias");
  same(d, "relu, bias", [&](int i, int j, int) { return std::fmax(0, x(i, j) + i - 2.5); }, off);
  with(CUBLASLT_EPILOGUE_GELU, "gelu");
  same(d, "gelu", [&](int i, int j, int) { return gelu(x(i, j)); }, off);
  with(CUBLASLT_EPILOGUE_GELU_AUX_BIAS, "gelu, aux, bias");
  same(d, "gelu, aux, bias", [&](int i, int j, int) { return gelu(x(i, j) + i - 2.5); }, off);
  same(aux, "aux", [&](int i, int j, int) { return x(i, j) + i - 2.5; }, off);
  // Gradients: the slope is that of a small step.
  with(CUBLASLT_EPILOGUE_DGELU_BGRAD, "dgelu");
  const auto slope = [&](int i, int j) { return (gelu(aux(i, j) + 1e-5) - gelu(aux(i, j) - 1e-5)) / 2e-5; };
  same(d, "dgelu", [&](int i, int j, int) { return x(i, j) * slope(i, j); }, off + 1e-6);
  for (int i = 0; i < m; ++i) {
    double want = 0;
    for (int j = 0; j < n; ++j) want += x(i, j) * slope(i, j);
    expect(std::fabs(wide(bias[i]) - want) <= (off + 1e-6) * std::fmax(1, std::fabs(want)), "bgrad");
  }
  with(CUBLASLT_EPILOGUE_BGRADB, "bgradb");
  same(d, "bgradb", [&](int i, int j, int) { return x(i, j); }, off);
  for (int j = 0; j < n; ++j) {
    double want = 0;
    for (int l = 0; l < k; ++l) want += b(l, j);
    expect(wide(bias[j]) == want, "bgradb");
  }
  with(CUBLASLT_EPILOGUE_BGRADA, "bgrada");
  for (int i = 0; i < m; ++i) {
    double want = 0;
    for (int l = 0; l < k; ++l) want += a(i, l);
    expect(wide(bias[i]) == want, "bgrada");
  }
}

void masks() {
  const float alpha = 1, zero = 0;
  Matrix<float> a(m, k, 1), b(k, n, 2), d(m, n, 3);
  auto* mask = managed<unsigned char>(128 / 8 * n);
  Operation o(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  o.set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t{CUBLASLT_EPILOGUE_RELU_AUX});
  o.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, mask).set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t{128});
  run(o, &alpha, a, b, &zero, d, d, "relu, aux");
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      expect((mask[j * 16 + i / 8] >> (i % 8) & 1) == (sum(a, false, b, false, i, j) > 0), "mask");
  Matrix<float> a2(m, k, 5), b2(k, n, 6);
  o.set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t{CUBLASLT_EPILOGUE_DRELU});
  run(o, &alpha, a2, b2, &zero, d, d, "drelu");
  same(d, "drelu", [&](int i, int j, int) {
    return sum(a, false, b, false, i, j) > 0 ? sum(a2, false, b2, false, i, j) : 0;
  });
}

template <class D>
void eight_bits(const char* what) {
  const float one = 1, zero = 0;
  float* scales = managed<float>(4);
  scales[0] = 2, scales[1] = 0.5f, scales[2] = 4;
  Matrix<__nv_fp8_e4m3> a(k, m, 1);
  Matrix<__nv_fp8_e5m2> b(k, n, 2);
  Matrix<__nv_bfloat16> c(m, n, 3);
  Matrix<D> d(m, n, 4);
  Operation o(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  o.turn(true, false).set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scales);
  o.set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scales + 1).set(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, scales + 2);
  o.set(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, scales + 3).set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, int8_t{1});
  run(o, &one, a, b, &zero, c, d, what);
  double largest = 0;
  const bool small = sizeof(D) == 1;
  same(d, what, [&](int i, int j, int) {
    const double x = sum(a, true, b, false, i, j);
    largest = std::fmax(largest, std::fabs(x));
    return wide(narrow<D>(small ? 4 * x : x));
  });
  expect(scales[3] == largest, "amax");
  Operation plain(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  Matrix<__nv_fp8_e4m3> a2(m, k, 1);
  expect(cublasLtMatmul(h, plain.o, &one, a2.v, a2.layout, b.v, b.layout, &zero, c.v, c.layout, d.v, d.layout, nullptr,
                        nullptr, 0, nullptr) == CUBLAS_STATUS_NOT_SUPPORTED,
         "eight bits not along the sum");
}

void factors() {
  Matrix<float> a(m, k, 1), b(k, n, 2), c(m, n, 3), d(m, n, 4);
  float* both = managed<float>(m);
  both[0] = 3, both[1] = -2;
  Operation o(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  o.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, int32_t{CUBLASLT_POINTER_MODE_DEVICE});
  run(o, both, a, b, both + 1, c, d, "factors on the device");
  same(d, "factors on the device", [&](int i, int j, int) { return 3 * sum(a, false, b, false, i, j) - 2 * c(i, j); });
  for (int i = 0; i < m; ++i) both[i] = i + 1;
  o.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, int32_t{CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO});
  run(o, both, a, b, static_cast<float*>(nullptr), c, d, "a factor for each row");
  same(d, "a factor for each row", [&](int i, int j, int) { return (i + 1) * sum(a, false, b, false, i, j); });
}

void transforms() {
  Matrix<float> a(n, m, 1);
  Matrix<__half> b(m, n, 2), c(m, n, 3, true);
  const float alpha = 2, beta = -1;
  cublasLtMatrixTransformDesc_t t;
  const int32_t turn = CUBLAS_OP_T;
  done(cublasLtMatrixTransformDescCreate(&t, CUDA_R_32F), "transform");
  done(cublasLtMatrixTransformDescSetAttribute(t, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, &turn, sizeof turn),
       "transform");
  done(cublasLtMatrixTransform(h, t, &alpha, a.v, a.layout, &beta, b.v, b.layout, c.v, c.layout, nullptr), "transform");
  MUST(cudaDeviceSynchronize());
  same(c, "transform", [&](int i, int j, int) { return 2 * a(j, i) - b(i, j); });
  done(cublasLtMatrixTransformDescDestroy(t), "transform");
}

void graph_and_refusals() {
  Matrix<float> a(m, k, 1), b(k, n, 2), d(m, n, 4);
  const float one = 1, zero = 0;
  Operation o(CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  run(o, &one, a, b, &zero, d, d, "in a graph", stream);
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; ++i) {
    a.at(0, 0) = 5 + i;
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaStreamSynchronize(stream));
    same(d, "in a graph", [&](int x, int y, int) { return sum(a, false, b, false, x, y); });
  }
  Matrix<float> wrong(m, n + 1, 1);
  Matrix<double> other(m, n, 1);
  const auto call = [&](cublasLtMatmulDesc_t p, cublasLtMatrixLayout_t c, const float* alpha) {
    return cublasLtMatmul(h, p, alpha, a.v, a.layout, b.v, b.layout, &zero, d.v, c, d.v, c, nullptr, nullptr, 0, stream);
  };
  expect(call(o.o, wrong.layout, &one) == CUBLAS_STATUS_INVALID_VALUE, "sizes that do not fit");
  expect(call(o.o, other.layout, &one) == CUBLAS_STATUS_NOT_SUPPORTED, "types that do not fit");
  expect(call(nullptr, d.layout, &one) == CUBLAS_STATUS_INVALID_VALUE, "no operation");
  expect(call(o.o, d.layout, nullptr) == CUBLAS_STATUS_INVALID_VALUE, "no alpha");
  size_t written = 0;
  uint64_t rows = 0;
  expect(cublasLtMatrixLayoutGetAttribute(a.layout, CUBLASLT_MATRIX_LAYOUT_ROWS, &rows, sizeof rows, &written) ==
                 CUBLAS_STATUS_SUCCESS &&
             rows == m && written == sizeof rows,
         "an attribute is read");
  expect(cublasLtMatrixLayoutSetAttribute(a.layout, CUBLASLT_MATRIX_LAYOUT_ROWS, &rows, 2) ==
             CUBLAS_STATUS_INVALID_VALUE,
         "an attribute of another size");
  cublasLtMatrixLayoutOpaque_t own;
  done(cublasLtMatrixLayoutInit(&own, CUDA_R_32F, m, n, m + 1), "a layout of the program's");
  done(call(o.o, &own, &one), "a layout of the program's");
  MUST(cudaStreamSynchronize(stream));
}
}  // namespace

int main() {
  done(cublasLtCreate(&h), "create");
  products<float, float, float>(CUBLAS_COMPUTE_32F, "float");
  products<double, double, double>(CUBLAS_COMPUTE_64F, "double");
  products<__half, __half, __half>(CUBLAS_COMPUTE_16F, "half");
  products<__half, __half, float>(CUBLAS_COMPUTE_32F, "half, added in 32 bits");
  products<__half, float, float>(CUBLAS_COMPUTE_32F, "half to float");
  products<__nv_bfloat16, __nv_bfloat16, float>(CUBLAS_COMPUTE_32F, "bfloat16");
  products<__nv_bfloat16, float, float>(CUBLAS_COMPUTE_32F, "bfloat16 to float");
  products<int8_t, int, int>(CUBLAS_COMPUTE_32I, "bytes");
  epilogues<float>(1e-5), epilogues<__half>(2e-3);
  masks();
  eight_bits<__nv_bfloat16>("eight bits to sixteen"), eight_bits<__nv_fp8_e4m3>("eight bits to eight");
  factors(), transforms(), graph_and_refusals();
  done(cublasLtDestroy(h), "destroy");
  std::printf("%s\n", good ? "all right" : "something is wrong");
  return good ? 0 : 1;
}
