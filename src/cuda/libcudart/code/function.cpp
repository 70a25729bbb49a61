// SPDX-License-Identifier: Apache-2.0
// Execution Control: what a kernel is, and what the program sets on it. Occupancy.
#include "driver/code/function.h"
#include "cuda/code/functions.h"
#include "cuda/device_queries.h"
#include "cuda/libcudart/runtime_api.h"
#include "driver/code/launch.h"
#include "driver/code/occupancy.h"

using namespace us::cuda;
using us::driver::Function;

namespace {

// f(Context&, Function&) → Error
template <class F>
cudaError_t with_function(const void* symbol, F&& f) {
  return in_context([&](Context& c) {
    Function* function = nullptr;
    US_TRY(c.sticky());
    US_TRY(find_function(c, symbol, function));
    return f(c, *function);
  });
}

}  // namespace

US_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, const void* f) {
  if (!out) return done(Error::InvalidValue);
  return with_function(f, [&](Context&, Function& function) {
    describe(function, *out);
    return Error::Success;
  });
}

US_API cudaError_t cudaFuncSetAttribute(const void* f, cudaFuncAttribute attribute, int value) {
  const cudaError_t e = with_function(
      f, [&](Context& c, Function& function) { return us::cuda::set_attribute(c, function, attribute, value); });
  if (e == cudaSuccess) take_last_error();  // an H200's runtime forgets earlier errors here
  return e;
}

US_API cudaError_t cudaFuncSetCacheConfig(const void* f, cudaFuncCache config) {
  if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual) return done(Error::InvalidValue);
  return with_function(f, [&](Context&, Function& function) {
    function.cache_config = config;
    return Error::Success;
  });
}

US_API cudaError_t cudaFuncSetSharedMemConfig(const void* f, cudaSharedMemConfig) {
  return with_function(f, [](Context&, Function&) { return Error::Success; });  // bank size is fixed since Maxwell
}

US_API cudaError_t cudaFuncGetName(const char** name, const void* f) {
  if (!name || !f) return done(Error::InvalidValue);
  us::driver::Kernel* k = nullptr;
  const Error e = find_kernel(f, k);
  if (!us::driver::failed(e)) *name = k->name.c_str();
  return done(e);
}

US_API cudaError_t cudaFuncGetParamInfo(const void* f, size_t index, size_t* offset, size_t* size) {
  if (!offset) return done(Error::InvalidValue);
  return with_function(f, [&](Context&, Function& function) {
    const auto& params = function.ir().params;
    if (index >= params.size()) return Error::InvalidValue;
    *offset = params[index].offset;
    if (size) *size = params[index].size;
    return Error::Success;
  });
}

US_API cudaError_t __cudaGetKernel(cudaKernel_t* out, const void* f) {
  us::driver::Kernel* k = nullptr;
  const Error e = find_kernel(f, k);
  *out = reinterpret_cast<cudaKernel_t>(k);
  return done(e);
}
US_API cudaError_t cudaGetKernel(cudaKernel_t* out, const void* f) {
  return out ? __cudaGetKernel(out, f) : done(Error::InvalidValue);
}

US_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t* out, const void* f) {
  if (!out) return done(Error::InvalidValue);
  return with_function(f, [&](Context&, Function& function) {
    *out = reinterpret_cast<cudaFunction_t>(&function);
    return Error::Success;
  });
}

US_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* f, int threads,
                                                                          size_t shared, unsigned) {
  if (!blocks || threads <= 0) return done(Error::InvalidValue);
  return with_function(f, [&](Context& c, Function& function) {
    const auto needs = us::driver::needs_of(function, static_cast<us::u32>(threads), shared);
    *blocks = static_cast<int>(us::driver::blocks_per_sm(c.device().spec(), needs));
    return Error::Success;
  });
}

US_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* f, int threads,
                                                                 size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, threads, shared, 0);
}

US_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* shared, const void* f, int blocks, int threads) {
  if (!shared || blocks <= 0 || threads <= 0) return done(Error::InvalidValue);
  return with_function(f, [&](Context& c, Function& function) {
    us::u64 bytes = 0;
    US_TRY(us::driver::available_dynamic_shared(c.device().spec(), function, static_cast<us::u32>(blocks),
                                                static_cast<us::u32>(threads), bytes));
    *shared = bytes;
    return Error::Success;
  });
}

US_API cudaError_t cudaOccupancyMaxActiveClusters(int* out, const void* f, const cudaLaunchConfig_t* config) {
  if (!out || !config) return done(Error::InvalidValue);
  return with_function(f, [&](Context& c, Function& function) {
    us::u32 clusters = 0;
    const dim3 g = config->gridDim, b = config->blockDim;
    US_TRY(count_clusters(
        c, function, {.grid = {g.x, g.y, g.z}, .block = {b.x, b.y, b.z}, .dynamic_shared = config->dynamicSmemBytes},
        config->attrs, config->numAttrs, clusters));
    *out = static_cast<int>(clusters);
    return Error::Success;
  });
}

US_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* f, const cudaLaunchConfig_t* config) {
  if (!size || !config) return done(Error::InvalidValue);
  return with_function(f, [&](Context& c, Function& function) {
    *size = static_cast<int>(us::driver::max_potential_cluster(c.device().spec(), function));
    return Error::Success;
  });
}
