// SPDX-License-Identifier: Apache-2.0
// Execution Control: functions and launches. Occupancy.
#include <algorithm>

#include "cuda/libcuda/driver_api.h"
#include "cuda/libcuda/own_functions.h"
#include "driver/code/launch.h"
#include "driver/code/occupancy.h"

using namespace us::cuda;

namespace {

Error launch(CUfunction f, us::driver::LaunchConfig config, CUstream stream, void** params, void** extra) {
  Function* function = nullptr;
  StreamRef s;
  US_TRY(driver_stream(stream, s));
  Context& c = s.context();
  US_TRY(c.sticky());
  US_TRY(find_loaded(c, f, function));
  us::driver::LaunchArgs args{.pointers = params};
  US_TRY(read_extra(extra, args));
  return c.submit(KernelOp{.function = function, .config = config, .arguments = args, .handle = f}, *s);
}

Error launch_with_attributes(const CUlaunchConfig* given, CUfunction f, void** params, void** extra) {
  if (!given || (given->numAttrs && !given->attrs)) return Error::InvalidValue;
  us::driver::LaunchConfig config{.grid = {given->gridDimX, given->gridDimY, given->gridDimZ},
                                  .block = {given->blockDimX, given->blockDimY, given->blockDimZ},
                                  .dynamic_shared = given->sharedMemBytes};
  std::vector<LaunchEvent> events;
  US_TRY(read_attributes(given->attrs, given->numAttrs, config, events));
  Events begun;
  if (!events.empty()) US_TRY(check_events(events, given->hStream, begun));
  config.begun = begun;
  US_TRY(launch(f, config, given->hStream, params, extra));
  return record_events(events, given->hStream);
}

}  // namespace

US_API CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                               unsigned bz, unsigned shared, CUstream stream, void** params, void** extra) {
  return result(
      launch(f, {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .dynamic_shared = shared}, stream, params, extra));
}
US_PTSZ(cuLaunchKernel,
        (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
         CUstream stream, void** params, void** extra),
        (f, gx, gy, gz, bx, by, bz, shared, stream, params, extra))

US_API CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                          unsigned bz, unsigned shared, CUstream stream, void** params) {
  return result(launch(f, {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .dynamic_shared = shared, .cooperative = true},
                       stream, params, nullptr));
}
US_PTSZ(cuLaunchCooperativeKernel,
        (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
         CUstream stream, void** params),
        (f, gx, gy, gz, bx, by, bz, shared, stream, params))

US_API CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** params, void** extra) {
  return result(launch_with_attributes(config, f, params, extra));
}
US_PTSZ(cuLaunchKernelEx, (const CUlaunchConfig* config, CUfunction f, void** params, void** extra),
        (config, f, params, extra))

US_API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn f, void* data) {
  if (!f) return CUDA_ERROR_INVALID_VALUE;
  return in_stream(stream, [&](Context& c, Stream& s) { return c.submit(host_function(f, data), s); });
}
US_PTSZ(cuLaunchHostFunc, (CUstream stream, CUhostFn f, void* data), (stream, f, data))

US_API CUresult cuFuncGetAttribute(int* out, CUfunction_attribute attribute, CUfunction handle) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_function(handle, [&](Context&, Function& f) { return get_attribute(f, attribute, *out); });
}

US_API CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  return with_function(handle, [&](Context& c, Function& f) { return set_attribute(c, f, attribute, value); });
}

US_API CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config) {
  if (config > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
  return with_function(handle, [&](Context&, Function& f) {
    f.cache_config = static_cast<int>(config);
    return Error::Success;
  });
}

// What asks a function about itself finds a null handle a wrong value; elsewhere it is a wrong handle.
US_API CUresult cuFuncGetModule(CUmodule* out, CUfunction handle) {
  if (!out || !handle) return CUDA_ERROR_INVALID_VALUE;
  return with_function(handle, [&](Context&, Function& f) {
    *out = handle_to<CUmodule>(&f.module());
    return Error::Success;
  });
}

US_API CUresult cuFuncGetName(const char** out, CUfunction handle) {
  if (!out || !handle) return CUDA_ERROR_INVALID_VALUE;
  return with_function(handle, [&](Context&, Function& f) {
    *out = f.name().c_str();
    return Error::Success;
  });
}

US_API CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t* offset, size_t* size) {
  if (!offset || !handle) return CUDA_ERROR_INVALID_VALUE;
  return with_function(handle, [&](Context&, Function& f) {
    const auto& params = f.ir().params;
    if (index >= params.size()) return Error::InvalidValue;
    *offset = params[index].offset;
    if (size) *size = params[index].size;
    return Error::Success;
  });
}

US_API CUresult cuFuncIsLoaded(CUfunctionLoadingState* out, CUfunction handle) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_function(handle, [&](Context&, Function&) {
    *out = CU_FUNCTION_LOADING_STATE_LOADED;
    return Error::Success;
  });
}
US_API CUresult cuFuncLoad(CUfunction handle) {
  return with_function(handle, [](Context&, Function&) { return Error::Success; });
}

US_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* out, CUfunction handle, int threads,
                                                                     size_t shared, unsigned) {
  if (!out || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
  return with_current_function(handle, [&](Context& c, Function& f) {
    *out = static_cast<int>(
        blocks_per_sm(c.device().spec(), us::driver::needs_of(f, static_cast<us::u32>(threads), shared)));
    return Error::Success;
  });
}
US_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* out, CUfunction f, int threads, size_t shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, f, threads, shared, 0);
}

// The largest block with the most threads per SM.
US_API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction handle,
                                                          CUoccupancyB2DSize shared_of, size_t shared, int limit,
                                                          unsigned) {
  if (!grid || !block) return CUDA_ERROR_INVALID_VALUE;
  return with_current_function(handle, [&](Context& c, Function& f) {
    const auto& d = c.device().spec();
    const int most = static_cast<int>(f.resources().max_threads_per_block);
    const int top = limit > 0 ? std::min(limit, most) : most;
    us::u32 best = 0;
    *block = *grid = 0;
    for (int threads = (top + 31) / 32 * 32; threads > 0; threads -= 32) {
      const int now = std::min(threads, top);
      const us::u32 blocks =
          blocks_per_sm(d, us::driver::needs_of(f, static_cast<us::u32>(now), shared_of ? shared_of(now) : shared));
      if (blocks * static_cast<us::u32>(now) <= best) continue;
      best = blocks * static_cast<us::u32>(now);
      *block = now;
      *grid = static_cast<int>(blocks * d.sms);
    }
    return Error::Success;
  });
}
US_API CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction f, CUoccupancyB2DSize shared_of,
                                                 size_t shared, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, f, shared_of, shared, limit, 0);
}

US_API CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* out, CUfunction handle, int blocks, int threads) {
  if (!out || blocks <= 0 || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
  return with_current_function(handle, [&](Context& c, Function& f) {
    us::u64 bytes = 0;
    US_TRY(us::driver::available_dynamic_shared(c.device().spec(), f, static_cast<us::u32>(blocks),
                                                static_cast<us::u32>(threads), bytes));
    *out = bytes;
    return Error::Success;
  });
}

US_API CUresult cuOccupancyMaxPotentialClusterSize(int* out, CUfunction handle, const CUlaunchConfig* config) {
  if (!out || !config) return CUDA_ERROR_INVALID_VALUE;
  return with_current_function(handle, [&](Context& c, Function& f) {
    *out = static_cast<int>(us::driver::max_potential_cluster(c.device().spec(), f));
    return Error::Success;
  });
}

US_API CUresult cuOccupancyMaxActiveClusters(int* out, CUfunction handle, const CUlaunchConfig* config) {
  if (!out || !config) return CUDA_ERROR_INVALID_VALUE;
  return with_current_function(handle, [&](Context& c, Function& f) {
    us::u32 clusters = 0;
    US_TRY(count_clusters(c, f,
                          {.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                           .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                           .dynamic_shared = config->sharedMemBytes},
                          config->attrs, config->numAttrs, clusters));
    *out = static_cast<int>(clusters);
    return Error::Success;
  });
}
