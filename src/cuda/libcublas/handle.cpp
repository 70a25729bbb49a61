// SPDX-License-Identifier: Apache-2.0
// Handles, their settings, and copies of vectors and matrices.
#include "cuda/libcublas/handle.h"

#include <cuda_runtime_api.h>

#include "cuda/api.h"

namespace us::cublas {
namespace {

cublasStatus_t copy(const void* from, int from_ld, void* to, int to_ld, int rows, int columns, int element,
                    cudaStream_t* stream) {
  if (rows < 0 || columns < 0 || element <= 0 || from_ld <= 0 || to_ld <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (!rows || !columns) return CUBLAS_STATUS_SUCCESS;
  const size_t e = static_cast<size_t>(element), width = static_cast<size_t>(rows) * e;
  const size_t from_pitch = static_cast<size_t>(from_ld) * e, to_pitch = static_cast<size_t>(to_ld) * e;
  const auto n = static_cast<size_t>(columns);
  const cudaError_t r = stream ? cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, n, cudaMemcpyDefault, *stream)
                               : cudaMemcpy2D(to, to_pitch, from, from_pitch, width, n, cudaMemcpyDefault);
  return r == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

}  // namespace

cublasStatus_t submit(cublasHandle_t h, const Touched& touched, std::function<void()> work) {
  return host_work::run_in(h->stream, touched, std::move(work)) ? CUBLAS_STATUS_SUCCESS
                                                                : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t submit_result(cublasHandle_t h, const Touched& touched, std::function<void()> work) {
  const cublasStatus_t r = submit(h, touched, std::move(work));
  if (r != CUBLAS_STATUS_SUCCESS || h->pointers == CUBLAS_POINTER_MODE_DEVICE) return r;
  return cudaStreamSynchronize(h->stream) == cudaSuccess ? r : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace us::cublas

using us::cublas::copy;

US_API cublasStatus_t cublasCreate_v2(cublasHandle_t* out) {
  if (!out) return CUBLAS_STATUS_INVALID_VALUE;
  if (cudaFree(nullptr) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  *out = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
US_API cublasStatus_t cublasDestroy_v2(cublasHandle_t h) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete h;
  return CUBLAS_STATUS_SUCCESS;
}

namespace {
#ifdef US_OLDER_LIBRARY
constexpr int kNumbers[] = {12, 9, 1};  // CUDA 12.9
#else
constexpr int kNumbers[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
#endif

template <class T>
cublasStatus_t set(cublasHandle_t h, T cublasContext::*member, T value) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  h->*member = value;
  return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t get(cublasHandle_t h, T cublasContext::*member, T* value) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!value) return CUBLAS_STATUS_INVALID_VALUE;
  *value = h->*member;
  return CUBLAS_STATUS_SUCCESS;
}
}  // namespace

US_API cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  if (!version) return CUBLAS_STATUS_INVALID_VALUE;
  *version = kNumbers[0] * 10000 + kNumbers[1] * 100 + kNumbers[2];
  return CUBLAS_STATUS_SUCCESS;
}
US_API cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  if (!value || (type != MAJOR_VERSION && type != MINOR_VERSION && type != PATCH_LEVEL))
    return CUBLAS_STATUS_INVALID_VALUE;
  *value = kNumbers[type == MAJOR_VERSION ? 0 : type == MINOR_VERSION ? 1 : 2];
  return CUBLAS_STATUS_SUCCESS;
}
US_API size_t cublasGetCudartVersion() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return static_cast<size_t>(version);
}

US_API const char* cublasGetStatusName(cublasStatus_t status) { return us::cublas::status_name(status); }
US_API const char* cublasGetStatusString(cublasStatus_t status) { return us::cublas::status_text(status); }

US_API cublasStatus_t cublasSetStream_v2(cublasHandle_t h, cudaStream_t s) { return set(h, &cublasContext::stream, s); }
US_API cublasStatus_t cublasGetStream_v2(cublasHandle_t h, cudaStream_t* s) {
  return get(h, &cublasContext::stream, s);
}
US_API cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t h, cublasPointerMode_t m) {
  if (m != CUBLAS_POINTER_MODE_HOST && m != CUBLAS_POINTER_MODE_DEVICE) return CUBLAS_STATUS_INVALID_VALUE;
  return set(h, &cublasContext::pointers, m);
}
US_API cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t h, cublasPointerMode_t* m) {
  return get(h, &cublasContext::pointers, m);
}
// Kept; products of 32 bits are of 32 bits in every mode.
US_API cublasStatus_t cublasSetMathMode(cublasHandle_t h, cublasMath_t m) { return set(h, &cublasContext::math, m); }
US_API cublasStatus_t cublasGetMathMode(cublasHandle_t h, cublasMath_t* m) { return get(h, &cublasContext::math, m); }
US_API cublasStatus_t cublasSetAtomicsMode(cublasHandle_t h, cublasAtomicsMode_t m) {
  return set(h, &cublasContext::atomics, m);
}
US_API cublasStatus_t cublasGetAtomicsMode(cublasHandle_t h, cublasAtomicsMode_t* m) {
  return get(h, &cublasContext::atomics, m);
}
// The toolkit's cuSOLVER calls it when it makes a handle; no header declares it.
US_API cublasStatus_t cublasSetEnvironmentMode() { return CUBLAS_STATUS_SUCCESS; }
US_API cublasStatus_t cublasSetSmCountTarget(cublasHandle_t h, int n) {
  return set(h, &cublasContext::multiprocessors, n);
}
US_API cublasStatus_t cublasGetSmCountTarget(cublasHandle_t h, int* n) {
  return get(h, &cublasContext::multiprocessors, n);
}
US_API cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t h, void*, size_t) {
  return h ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

US_API cublasStatus_t cublasSetVector(int n, int element, const void* x, int incx, void* y, int incy) {
  return copy(x, incx, y, incy, 1, n, element, nullptr);
}
US_API cublasStatus_t cublasGetVector(int n, int element, const void* x, int incx, void* y, int incy) {
  return copy(x, incx, y, incy, 1, n, element, nullptr);
}
US_API cublasStatus_t cublasSetVectorAsync(int n, int element, const void* x, int incx, void* y, int incy,
                                           cudaStream_t s) {
  return copy(x, incx, y, incy, 1, n, element, &s);
}
US_API cublasStatus_t cublasGetVectorAsync(int n, int element, const void* x, int incx, void* y, int incy,
                                           cudaStream_t s) {
  return copy(x, incx, y, incy, 1, n, element, &s);
}
US_API cublasStatus_t cublasSetMatrix(int rows, int columns, int element, const void* a, int lda, void* b, int ldb) {
  return copy(a, lda, b, ldb, rows, columns, element, nullptr);
}
US_API cublasStatus_t cublasGetMatrix(int rows, int columns, int element, const void* a, int lda, void* b, int ldb) {
  return copy(a, lda, b, ldb, rows, columns, element, nullptr);
}
US_API cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int element, const void* a, int lda, void* b, int ldb,
                                           cudaStream_t s) {
  return copy(a, lda, b, ldb, rows, columns, element, &s);
}
US_API cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int element, const void* a, int lda, void* b, int ldb,
                                           cudaStream_t s) {
  return copy(a, lda, b, ldb, rows, columns, element, &s);
}
