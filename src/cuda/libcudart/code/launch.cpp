// SPDX-License-Identifier: Apache-2.0
// Execution Control: launches and host functions.
#include "driver/code/launch.h"
#include "cuda/code/functions.h"
#include "cuda/libcuda/own_functions.h"
#include "cuda/libcudart/runtime_api.h"
#include "driver/code/function.h"

using namespace us::cuda;

namespace {

us::device::Dim3 dims(const dim3& d) { return {d.x, d.y, d.z}; }

// In the context of the stream, whatever is current: the H200 runs it on the stream's device.
Error launch(const void* symbol, us::driver::LaunchConfig config, void** args, cudaStream_t stream) {
  Context& current = runtime_context();
  US_TRY(current.sticky());
  us::driver::Function* f = nullptr;
  StreamRef s;
  US_TRY(find_stream(current, stream, s));
  Context& c = s.context();
  US_TRY(c.sticky());
  US_TRY(find_function(c, symbol, f));
  return c.submit(
      KernelOp{
          .function = f, .config = config, .arguments = us::driver::LaunchArgs{.pointers = args}, .handle = symbol},
      *s);
}

Error launch_with_attributes(const cudaLaunchConfig_t* given, const void* symbol, void** args) {
  if (!given || (given->numAttrs && !given->attrs)) return Error::InvalidValue;
  us::driver::LaunchConfig config{
      .grid = dims(given->gridDim), .block = dims(given->blockDim), .dynamic_shared = given->dynamicSmemBytes};
  std::vector<LaunchEvent> events;
  US_TRY(read_attributes(given->attrs, given->numAttrs, config, events));
  Events begun;
  if (!events.empty()) US_TRY(check_events(events, given->stream, begun));
  config.begun = begun;
  US_TRY(launch(symbol, config, args, given->stream));
  return record_events(events, given->stream);
}

}  // namespace

US_API cudaError_t cudaLaunchKernel(const void* f, dim3 grid, dim3 block, void** args, size_t shared,
                                    cudaStream_t stream) {
  return done(launch(f, {.grid = dims(grid), .block = dims(block), .dynamic_shared = shared}, args, stream));
}
US_PTSZ(cudaLaunchKernel, (const void* f, dim3 grid, dim3 block, void** args, size_t shared, cudaStream_t stream),
        (f, grid, block, args, shared, stream))

US_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args, size_t shared,
                                      cudaStream_t stream) {
  return cudaLaunchKernel(static_cast<const void*>(kernel), grid, block, args, shared, stream);
}
US_PTSZ(__cudaLaunchKernel,
        (cudaKernel_t kernel, dim3 grid, dim3 block, void** args, size_t shared, cudaStream_t stream),
        (kernel, grid, block, args, shared, stream))

US_API cudaError_t cudaLaunchCooperativeKernel(const void* f, dim3 grid, dim3 block, void** args, size_t shared,
                                               cudaStream_t stream) {
  return done(launch(f, {.grid = dims(grid), .block = dims(block), .dynamic_shared = shared, .cooperative = true}, args,
                     stream));
}
US_PTSZ(cudaLaunchCooperativeKernel,
        (const void* f, dim3 grid, dim3 block, void** args, size_t shared, cudaStream_t stream),
        (f, grid, block, args, shared, stream))

US_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* f, void** args) {
  return done(launch_with_attributes(config, f, args));
}
US_PTSZ(cudaLaunchKernelExC, (const cudaLaunchConfig_t* config, const void* f, void** args), (config, f, args))

US_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t f, void* data) {
  if (!f) return done(Error::InvalidValue);
  return in_stream(stream, [&](Context& c, Stream& s) { return c.submit(host_function(f, data), s); });
}
US_PTSZ(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t f, void* data), (stream, f, data))

US_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t f, void* data, unsigned flags) {
  if (!f || flags != 0) return done(Error::InvalidValue);
  return in_stream(stream, [&](Context& c, Stream& s) {
    return c.submit(CallbackOp{[=, &c] { f(stream, static_cast<cudaError_t>(c.sticky()), data); }}, s);
  });
}
US_PTSZ(cudaStreamAddCallback, (cudaStream_t stream, cudaStreamCallback_t f, void* data, unsigned flags),
        (stream, f, data, flags))
