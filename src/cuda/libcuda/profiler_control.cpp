// SPDX-License-Identifier: Apache-2.0
// Profiler Control. As on hardware without a profiler attached, there is nothing to start or stop.
// The compiler packages of the Python package index lack the header that declares these.

#include "cuda/libcuda/driver_api.h"

namespace {
CUresult nothing() {
  return us::cuda::in_current([](us::driver::Context&) { return us::driver::Error::Success; });
}
}  // namespace

US_API CUresult cuProfilerStart();
US_API CUresult cuProfilerStart() { return nothing(); }
US_API CUresult cuProfilerStop();
US_API CUresult cuProfilerStop() { return nothing(); }
