// SPDX-License-Identifier: Apache-2.0
// Initialisation of a device by hand; what a stream remembers for its launches.
#include "cuda/code/launch_attributes.h"
#include "cuda/devices.h"
#include "cuda/libcudart/runtime_api.h"

using namespace us::cuda;

US_API cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  if (flags & ~static_cast<unsigned>(cudaInitDeviceFlagsAreValid)) return done(Error::InvalidValue);
  if (!is_device(device)) return done(Error::InvalidDevice);
  initialize_runtime();
  auto& d = runtime().device(static_cast<us::u32>(device));
  d.primary_for_runtime();
  if (flags & cudaInitDeviceFlagsAreValid) d.set_primary_flags(device_flags);
  return cudaSuccess;
}

US_API cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID id, const cudaStreamAttrValue* value) {
  if (!value) return done(Error::InvalidValue);
  return in_stream(stream, [&](Context&, Stream& s) { return us::cuda::set_attribute(s, id, value); });
}
US_PTSZ(cudaStreamSetAttribute, (cudaStream_t stream, cudaStreamAttrID id, const cudaStreamAttrValue* value),
        (stream, id, value))

US_API cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID id, cudaStreamAttrValue* value) {
  if (!value) return done(Error::InvalidValue);
  return in_stream(stream, [&](Context&, Stream& s) { return us::cuda::get_attribute(s, id, value); });
}
US_PTSZ(cudaStreamGetAttribute, (cudaStream_t stream, cudaStreamAttrID id, cudaStreamAttrValue* value),
        (stream, id, value))

US_API cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return in_stream(from, [&](Context&, Stream& source) {
    StreamRef target;
    US_TRY(find_stream(runtime_context(), to, target));
    target.stream->copy_attributes(source);
    return Error::Success;
  });
}
US_PTSZ(cudaStreamCopyAttributes, (cudaStream_t to, cudaStream_t from), (to, from))
