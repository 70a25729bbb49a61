// SPDX-License-Identifier: Apache-2.0
// Devices: cudaDeviceProp has fields that CUDA 13 gave up, and the version is another.
#include <algorithm>
#include <cstring>

#include "cuda/libcudart12/runtime13.h"

namespace {

constexpr int kVersion12 = 12090;

// cudaDeviceProp of CUDA 12.
struct Properties12 {
#define US_KEPT(type, name, dimension) type name dimension;
#define US_GONE(name, attribute) int name;
#define US_FREE(type, name, dimension) type name dimension;
#include "cuda/libcudart12/device_properties.inc"
#undef US_KEPT
#undef US_GONE
#undef US_FREE
};
static_assert(sizeof(Properties12) == 1032, "as CUDA 12.9 has it");
constexpr size_t kBytesOfCuda11 = offsetof(Properties12, hostRegisterSupported);  // its structure ends there
static_assert(kBytesOfCuda11 == 728);

template <class To, class From>
void assign(To& to, const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  std::memcpy(&to, &from, sizeof to);
}

cudaError_t fill(Properties12& p, int device) {
  cudaDeviceProp now;
  if (const cudaError_t e = US_CALL13(cudaGetDeviceProperties)(&now, device); e != cudaSuccess) return e;
  std::memset(&p, 0, sizeof p);
#define US_KEPT(type, name, dimension) assign(p.name, now.name);
#define US_GONE(name, attribute) US_CALL13(cudaDeviceGetAttribute)(&p.name, attribute, device);
#define US_FREE(type, name, dimension)
#include "cuda/libcudart12/device_properties.inc"
#undef US_KEPT
#undef US_GONE
#undef US_FREE
  return cudaSuccess;
}

void to_13(const Properties12& from, cudaDeviceProp& to) {
  std::memset(&to, 0, sizeof to);
#define US_KEPT(type, name, dimension) assign(to.name, from.name);
#define US_GONE(name, attribute)
#define US_FREE(type, name, dimension)
#include "cuda/libcudart12/device_properties.inc"
#undef US_KEPT
#undef US_GONE
#undef US_FREE
}

cudaError_t get_properties(void* out, size_t bytes, int device) {
  if (!out) return US_CALL13(cudaGetDeviceProperties)(nullptr, device);
  Properties12 p;
  if (const cudaError_t e = fill(p, device); e != cudaSuccess) return e;
  std::memcpy(out, &p, bytes);
  return cudaSuccess;
}

}  // namespace

US_API12 cudaError_t us12_cudaGetDeviceProperties_v2(Properties12* out, int device) {
  return get_properties(out, sizeof *out, device);
}

// Kept by CUDA 12 for objects that were compiled with CUDA 11.
US_API12 cudaError_t us12_cudaGetDeviceProperties(void* out, int device) {
  return get_properties(out, kBytesOfCuda11, device);
}

US_API12 cudaError_t us12_cudaChooseDevice(int* device, const Properties12* wish) {
  if (!wish) return US_CALL13(cudaChooseDevice)(device, nullptr);
  cudaDeviceProp now;
  to_13(*wish, now);
  return US_CALL13(cudaChooseDevice)(device, &now);
}

US_API12 cudaError_t us12_cudaRuntimeGetVersion(int* version) {
  const cudaError_t e = US_CALL13(cudaRuntimeGetVersion)(version);
  if (e == cudaSuccess) *version = kVersion12;
  return e;
}

// Without a version the driver's functions are those of the runtime's version.
using Status = cudaDriverEntryPointQueryResult;
US_API12 cudaError_t us12_cudaGetDriverEntryPoint(const char* symbol, void** out, unsigned long long flags,
                                                  Status* status) {
  return US_CALL13(cudaGetDriverEntryPointByVersion)(symbol, out, kVersion12, flags, status);
}
US_API12 cudaError_t us12_cudaGetDriverEntryPoint_ptsz(const char* symbol, void** out, unsigned long long flags,
                                                       Status* status) {
  return US_CALL13_PTSZ(cudaGetDriverEntryPointByVersion)(symbol, out, kVersion12, flags, status);
}

// The virtual devices have double precision.
US_API12 cudaError_t us12_cudaSetDoubleForDevice(double*) { return cudaSuccess; }
US_API12 cudaError_t us12_cudaSetDoubleForHost(double*) { return cudaSuccess; }
