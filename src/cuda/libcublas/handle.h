// SPDX-License-Identifier: Apache-2.0
// A handle and the way work gets into its stream (cuda/host_work).
#pragma once
#include <cublas_api.h>
#include <cuda.h>
#include <limits.h>

#include <complex>
#include <functional>
#include <vector>

#include "cuda/host_work/host_work.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
  int multiprocessors = 0;
};

namespace us::cublas {

using Single = std::complex<float>;
using Double = std::complex<double>;

using host_work::Touched;

// The value of an alpha or a beta when the call is made, or where it will be when the work runs.
template <class T>
class Scalar {
 public:
  Scalar(cublasHandle_t h, const T* p) : at_(h->pointers == CUBLAS_POINTER_MODE_DEVICE ? p : nullptr) {
    if (!at_) value_ = *p;
  }
  T get() const { return at_ ? *at_ : value_; }

 private:
  const T* at_;
  T value_{};
};

cublasStatus_t submit(cublasHandle_t, const Touched&, std::function<void()> work);
// The same for a result: with pointers of the host it is there when the call returns.
cublasStatus_t submit_result(cublasHandle_t, const Touched&, std::function<void()> work);

const char* status_name(cublasStatus_t);
const char* status_text(cublasStatus_t);

// Sizes as BLAS takes them.
template <class... Sizes>
bool fit(Sizes... sizes) {
  return ((sizes >= -INT_MAX && sizes <= INT_MAX) && ...);
}

}  // namespace us::cublas
