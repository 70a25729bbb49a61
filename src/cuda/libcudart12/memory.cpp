// SPDX-License-Identifier: Apache-2.0
// Memory: locations were device numbers, and structures were shorter: CUDA 13 appended fields that must be zero.
#include <cstdint>
#include <cstring>

#include "cuda/libcudart12/runtime13.h"

namespace {

// The first bytes of a CUDA 13 structure are the structure of CUDA 12.
template <class T>
constexpr size_t kBytes12 = 0;
template <>
constexpr size_t kBytes12<cudaPointerAttributes> = 24;
template <>
constexpr size_t kBytes12<cudaResourceDesc> = 64;
template <>
constexpr size_t kBytes12<cudaResourceViewDesc> = 48;

template <class T>
class Longer {
 public:
  explicit Longer(const T* given) : given_(given) {
    if (given) std::memcpy(&value_, given, kBytes12<T>);
  }
  const T* in() const { return given_ ? &value_ : nullptr; }

 private:
  const T* given_;
  T value_ = {};
};

// f(T*) → cudaError_t, its result in `out`.
template <class T, class F>
cudaError_t shorter(T* out, F&& f) {
  if (!out) return f(nullptr);
  T value = {};
  const cudaError_t e = f(&value);
  if (e == cudaSuccess) std::memcpy(static_cast<void*>(out), &value, kBytes12<T>);
  return e;
}

cudaMemLocation location(int device) {
  if (device == cudaCpuDeviceId) return {cudaMemLocationTypeHost, 0};
  return {cudaMemLocationTypeDevice, device};
}

}  // namespace

US_API12 cudaError_t us12_cudaPointerGetAttributes(cudaPointerAttributes* out, const void* p) {
  return shorter(out, [p](cudaPointerAttributes* o) { return US_CALL13(cudaPointerGetAttributes)(o, p); });
}

US_API12 cudaError_t us12_cudaCreateTextureObject(cudaTextureObject_t* out, const cudaResourceDesc* resource,
                                                  const cudaTextureDesc* texture, const cudaResourceViewDesc* view) {
  return US_CALL13(cudaCreateTextureObject)(out, Longer(resource).in(), texture, Longer(view).in());
}
US_API12 cudaError_t us12_cudaCreateSurfaceObject(cudaSurfaceObject_t* out, const cudaResourceDesc* resource) {
  return US_CALL13(cudaCreateSurfaceObject)(out, Longer(resource).in());
}
US_API12 cudaError_t us12_cudaGetTextureObjectResourceDesc(cudaResourceDesc* out, cudaTextureObject_t t) {
  return shorter(out, [t](cudaResourceDesc* o) { return US_CALL13(cudaGetTextureObjectResourceDesc)(o, t); });
}
US_API12 cudaError_t us12_cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* out, cudaSurfaceObject_t s) {
  return shorter(out, [s](cudaResourceDesc* o) { return US_CALL13(cudaGetSurfaceObjectResourceDesc)(o, s); });
}
US_API12 cudaError_t us12_cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* out, cudaTextureObject_t t) {
  return shorter(out, [t](cudaResourceViewDesc* o) { return US_CALL13(cudaGetTextureObjectResourceViewDesc)(o, t); });
}

US_API12 cudaError_t us12_cudaMemAdvise(const void* p, size_t bytes, cudaMemoryAdvise advice, int device) {
  return US_CALL13(cudaMemAdvise)(p, bytes, advice, location(device));
}
US_API12 cudaError_t us12_cudaMemPrefetchAsync(const void* p, size_t bytes, int device, cudaStream_t s) {
  return US_CALL13(cudaMemPrefetchAsync)(p, bytes, location(device), 0, s);
}
US_API12 cudaError_t us12_cudaMemPrefetchAsync_ptsz(const void* p, size_t bytes, int device, cudaStream_t s) {
  return US_CALL13_PTSZ(cudaMemPrefetchAsync)(p, bytes, location(device), 0, s);
}

// CUDA 12 says which copy failed, where it is one.
#define US_BATCH(name, call)                                                                                       \
  US_API12 cudaError_t name(void** to, void** from, size_t* sizes, size_t count, cudaMemcpyAttributes* attributes, \
                            size_t* indices, size_t n, size_t* failed, cudaStream_t s) {                           \
    const cudaError_t e = call(cudaMemcpyBatchAsync)(to, from, sizes, count, attributes, indices, n, s);           \
    if (e != cudaSuccess && failed) *failed = SIZE_MAX;                                                            \
    return e;                                                                                                      \
  }
US_BATCH(us12_cudaMemcpyBatchAsync, US_CALL13)
US_BATCH(us12_cudaMemcpyBatchAsync_ptsz, US_CALL13_PTSZ)
