// SPDX-License-Identifier: Apache-2.0
// Memory Management: many copies in one call. Persisting cache lines; the devices a thread may use.
#include <algorithm>

#include "cuda/devices.h"
#include "cuda/libcudart/runtime_api.h"

using namespace us::cuda;

US_API cudaError_t cudaMemcpyBatchAsync(void* const* dst, const void* const* src, const size_t* sizes, size_t count,
                                        cudaMemcpyAttributes* attributes, size_t* firsts, size_t attribute_count,
                                        cudaStream_t stream) {
  if (!dst || !src || !sizes || count == 0 || !attributes || !firsts || attribute_count == 0 ||
      attribute_count > count || firsts[0] != 0 || !stream)
    return done(Error::InvalidValue);
  return in_stream(stream, [&](Context& c, Stream& s) {
    for (size_t i = 0; i < count; ++i)
      US_TRY(c.submit(CopyOp{{.dst = address(dst[i]), .src = address(src[i]), .width = sizes[i]}}, s));
    return Error::Success;
  });
}
US_PTSZ(cudaMemcpyBatchAsync,
        (void* const* dst, const void* const* src, const size_t* sizes, size_t count, cudaMemcpyAttributes* attributes,
         size_t* firsts, size_t attribute_count, cudaStream_t stream),
        (dst, src, sizes, count, attributes, firsts, attribute_count, stream))

US_API cudaError_t cudaCtxResetPersistingL2Cache() {
  return in_context([](Context& c) { return c.sticky(); });
}

US_API cudaError_t cudaSetValidDevices(int* devices, int count) {
  if (!devices || count <= 0) return count == 0 ? cudaSuccess : done(Error::InvalidValue);
  for (int i = 0; i < count; ++i)
    if (!is_device(devices[i])) return done(Error::InvalidDevice);
  thread_state().device = static_cast<us::u32>(devices[0]);
  return cudaSuccess;
}
