// SPDX-License-Identifier: Apache-2.0
// What the codes of cuBLAS and cuBLASLt are called.
#include "cuda/libcublas/handle.h"

namespace us::cublas {

#define US_STATUS(name, text) \
  case CUBLAS_STATUS_##name:  \
    return text;
#define US_STATUSES(S)                                                                      \
  S(SUCCESS, "success")                                                                     \
  S(NOT_INITIALIZED, "the library was not initialized")                                     \
  S(ALLOC_FAILED, "the resource allocation failed")                                         \
  S(INVALID_VALUE, "an unsupported value or parameter was passed to the function")          \
  S(ARCH_MISMATCH, "the function requires an architectural feature absent from the device") \
  S(MAPPING_ERROR, "an access to GPU memory space failed")                                  \
  S(EXECUTION_FAILED, "the GPU program failed to execute")                                  \
  S(INTERNAL_ERROR, "an internal operation failed")                                         \
  S(NOT_SUPPORTED, "the parameters given are not supported")                                \
  S(LICENSE_ERROR, "the functionality requested requires some license")
#define US_STATUS_NAME(name, text) US_STATUS(name, "CUBLAS_STATUS_" #name)
const char* status_name(cublasStatus_t status) {
  switch (status) { US_STATUSES(US_STATUS_NAME) }
  return "unknown";
}
const char* status_text(cublasStatus_t status) {
  switch (status) { US_STATUSES(US_STATUS) }
  return "unknown";
}

}  // namespace us::cublas
