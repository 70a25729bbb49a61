// SPDX-License-Identifier: Apache-2.0
// Graphics Interoperability. The virtual devices draw nothing, so no object of OpenGL can be registered, as on a
// machine whose OpenGL belongs to another driver; and what was never registered cannot be mapped.
#include "cuda/devices.h"
#include "cuda/libcudart/runtime_api.h"
#include "driver/memory/array.h"

using namespace us::cuda;

namespace {

constexpr unsigned kRegisterFlags = 0xf, kMapFlags = 0x3;

cudaError_t not_registered(bool arguments_valid) {
  return done(arguments_valid ? Error::InvalidHandle : Error::InvalidValue);
}

}  // namespace

US_API cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource** out, unsigned, unsigned flags) {
  if (!out || (flags & ~kRegisterFlags)) return done(Error::InvalidValue);
  return in_context([](Context&) { return Error::OperatingSystem; });
}
US_API cudaError_t cudaGraphicsGLRegisterImage(cudaGraphicsResource** out, unsigned, unsigned, unsigned flags) {
  if (!out || (flags & ~kRegisterFlags)) return done(Error::InvalidValue);
  return in_context([](Context&) { return Error::OperatingSystem; });
}

US_API cudaError_t cudaGLGetDevices(unsigned* count, int* devices, unsigned most, int) {
  if (!count || (most && !devices)) return done(Error::InvalidValue);
  return done(Error::OperatingSystem);
}

US_API cudaError_t cudaGLSetGLDevice(int device) {
  if (!is_device(device)) return done(Error::InvalidDevice);
  return cudaSetDevice(device);
}

// The old form, by the name of a buffer.
US_API cudaError_t cudaGLRegisterBufferObject(unsigned) {
  return in_context([](Context&) { return Error::OperatingSystem; });
}
US_API cudaError_t cudaGLUnregisterBufferObject(unsigned) { return done(Error::InvalidHandle); }
US_API cudaError_t cudaGLSetBufferObjectMapFlags(unsigned, unsigned flags) { return not_registered(flags <= 2); }
US_API cudaError_t cudaGLMapBufferObject(void** out, unsigned) { return not_registered(out != nullptr); }
US_API cudaError_t cudaGLMapBufferObjectAsync(void** out, unsigned, cudaStream_t) {
  return not_registered(out != nullptr);
}
US_API cudaError_t cudaGLUnmapBufferObject(unsigned) { return done(Error::InvalidHandle); }
US_API cudaError_t cudaGLUnmapBufferObjectAsync(unsigned, cudaStream_t) { return done(Error::InvalidHandle); }

US_API cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t) { return done(Error::InvalidHandle); }
US_API cudaError_t cudaGraphicsResourceSetMapFlags(cudaGraphicsResource_t, unsigned flags) {
  return not_registered((flags & ~kMapFlags) == 0);
}
US_API cudaError_t cudaGraphicsMapResources(int count, cudaGraphicsResource_t* list, cudaStream_t) {
  return not_registered(count > 0 && list);
}
US_API cudaError_t cudaGraphicsUnmapResources(int count, cudaGraphicsResource_t* list, cudaStream_t) {
  return not_registered(count > 0 && list);
}
US_API cudaError_t cudaGraphicsResourceGetMappedPointer(void** out, size_t*, cudaGraphicsResource_t) {
  return not_registered(out != nullptr);
}
US_API cudaError_t cudaGraphicsSubResourceGetMappedArray(cudaArray_t* out, cudaGraphicsResource_t, unsigned, unsigned) {
  return not_registered(out != nullptr);
}
US_API cudaError_t cudaGraphicsResourceGetMappedMipmappedArray(cudaMipmappedArray_t* out, cudaGraphicsResource_t) {
  return not_registered(out != nullptr);
}
