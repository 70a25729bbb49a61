// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cuda.h>

#include "driver/error.h"

namespace us::cuda {

// The driver API has no codes of its own for what the runtime API calls a wrong configuration, pitch or symbol.
inline CUresult result(driver::Error e) {
  using driver::Error;
  switch (e) {
    case Error::InvalidConfiguration:
    case Error::InvalidPitchValue:
    case Error::InvalidHostPointer:
    case Error::InvalidDevicePointer:
    case Error::InvalidMemcpyDirection:
    case Error::InvalidChannelDescriptor:
    case Error::InvalidFilterSetting:
    case Error::InvalidNormSetting:
    case Error::MissingConfiguration:
      return CUDA_ERROR_INVALID_VALUE;
    case Error::InvalidSymbol:
      return CUDA_ERROR_NOT_FOUND;
    case Error::InvalidDeviceFunction:
      return CUDA_ERROR_INVALID_HANDLE;
    default:
      return static_cast<CUresult>(e);
  }
}

}  // namespace us::cuda
