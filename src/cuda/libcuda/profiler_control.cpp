// SPDX-License-Identifier: Apache-2.0
// Profiler Control. As on hardware without a profiler attached, there is nothing to start or stop.
// The compiler packages of the Python package index lack the header that declares these.
#include <cuda.h>

#include "cuda/api.h"
#include "cuda/devices.h"

US_API CUresult cuProfilerStart();
US_API CUresult cuProfilerStart() { return us::cuda::initialized() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED; }
US_API CUresult cuProfilerStop();
US_API CUresult cuProfilerStop() { return us::cuda::initialized() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED; }
