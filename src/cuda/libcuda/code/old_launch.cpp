// SPDX-License-Identifier: Apache-2.0
// Execution Control as it was before cuLaunchKernel: block, shared memory and parameters are set on the function first.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "cuda/libcuda/driver_api.h"
#include "driver/code/launch.h"

using namespace us::cuda;

namespace {

struct Prepared {
  us::device::Dim3 block{1, 1, 1};
  us::u32 shared = 0;
  std::vector<us::u8> params;
};

struct Table {
  std::mutex m;  // guards by_function
  std::map<const void*, Prepared> by_function;
};
Table& table() {
  static Table* const t = new Table;
  return *t;
}

// f(Prepared&) → Error
template <class F>
CUresult prepare(CUfunction handle, F&& f) {
  return with_function(handle, [&](Context&, Function& function) {
    std::lock_guard l(table().m);
    return f(table().by_function[&function]);
  });
}

CUresult put(CUfunction handle, int offset, const void* from, size_t bytes) {
  if (offset < 0 || !from) return CUDA_ERROR_INVALID_VALUE;
  return prepare(handle, [&](Prepared& p) {
    const auto at = static_cast<size_t>(offset);
    if (at + bytes > 4096) return Error::InvalidValue;
    p.params.resize(std::max(p.params.size(), at + bytes));
    std::memcpy(p.params.data() + at, from, bytes);
    return Error::Success;
  });
}

CUresult launch(CUfunction handle, int width, int height, CUstream stream) {
  if (width <= 0 || height <= 0) return CUDA_ERROR_INVALID_VALUE;
  return with_function(handle, [&](Context& c, Function& f) {
    StreamRef s;
    Prepared p;
    US_TRY(find_stream(c, stream, s));
    {
      std::lock_guard l(table().m);
      p = table().by_function[&f];
    }
    p.params.resize(f.ir().param_bytes);
    const us::driver::LaunchConfig config{.grid = {static_cast<us::u32>(width), static_cast<us::u32>(height), 1},
                                          .block = p.block,
                                          .dynamic_shared = p.shared};
    return c.submit(
        KernelOp{.function = &f,
                 .config = config,
                 .arguments = us::driver::LaunchArgs{.block = p.params.data(), .block_bytes = p.params.size()},
                 .handle = &f},
        *s);
  });
}

}  // namespace

US_API CUresult cuFuncSetBlockShape(CUfunction f, int x, int y, int z) {
  if (x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
  return prepare(f, [&](Prepared& p) {
    p.block = {static_cast<us::u32>(x), static_cast<us::u32>(y), static_cast<us::u32>(z)};
    return Error::Success;
  });
}
US_API CUresult cuFuncSetSharedSize(CUfunction f, unsigned bytes) {
  return prepare(f, [&](Prepared& p) {
    p.shared = bytes;
    return Error::Success;
  });
}
US_API CUresult cuParamSetSize(CUfunction f, unsigned bytes) {
  if (bytes > 4096) return CUDA_ERROR_INVALID_VALUE;
  return prepare(f, [&](Prepared& p) {
    p.params.resize(bytes);
    return Error::Success;
  });
}
US_API CUresult cuParamSeti(CUfunction f, int offset, unsigned value) { return put(f, offset, &value, sizeof value); }
US_API CUresult cuParamSetf(CUfunction f, int offset, float value) { return put(f, offset, &value, sizeof value); }
US_API CUresult cuParamSetv(CUfunction f, int offset, void* from, unsigned bytes) {
  return put(f, offset, from, bytes);
}
US_API CUresult cuLaunch(CUfunction f) { return launch(f, 1, 1, nullptr); }
US_API CUresult cuLaunchGrid(CUfunction f, int width, int height) { return launch(f, width, height, nullptr); }
US_API CUresult cuLaunchGridAsync(CUfunction f, int width, int height, CUstream stream) {
  return launch(f, width, height, stream);
}
