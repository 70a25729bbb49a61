// SPDX-License-Identifier: Apache-2.0
// Device Management: what needs only the preset.
#include <cuda_runtime_api.h>

#include <cctype>
#include <cstring>

#include "cuda/api.h"
#include "cuda/devices.h"
#include "cuda/last_error.h"

using us::driver::Attribute;
using us::driver::Quantity;

namespace {

cudaError_t done(cudaError_t e) { return static_cast<cudaError_t>(us::cuda::record_error(e)); }

void fill(cudaDeviceProp& p, us::u32 ordinal) {
  std::memset(&p, 0, sizeof p);
  const us::driver::Preset& preset = us::cuda::preset_of(ordinal);
  preset.name.copy(p.name, sizeof p.name - 1);
  us::cuda::uuid_of(ordinal, reinterpret_cast<us::u8*>(p.uuid.bytes));
  p.totalGlobalMem = static_cast<size_t>(preset[Quantity::TotalMemory]);
#define US_PROPERTY(field, attribute) \
  p.field = static_cast<decltype(p.field + 0)>(us::cuda::attribute_of(ordinal, Attribute::attribute));
#include "cuda/libcudart/properties.inc"
#include "driver/preset.h"
#undef US_PROPERTY
}

// How well a device answers a wish: the fields of the wish that are set (not zero) and met.
int score(const cudaDeviceProp& wish, us::u32 ordinal) {
  cudaDeviceProp have;
  fill(have, ordinal);
  int met = 0;
  const auto at_least = [&](auto wanted, auto offered) { met += wanted != 0 && offered >= wanted; };
  at_least(wish.major * 1000 + wish.minor, have.major * 1000 + have.minor);
  at_least(wish.totalGlobalMem, have.totalGlobalMem);
  at_least(wish.multiProcessorCount, have.multiProcessorCount);
  at_least(wish.sharedMemPerBlock, have.sharedMemPerBlock);
  at_least(wish.regsPerBlock, have.regsPerBlock);
  at_least(wish.maxThreadsPerBlock, have.maxThreadsPerBlock);
  at_least(wish.l2CacheSize, have.l2CacheSize);
  return met + (wish.name[0] && std::strcmp(wish.name, have.name) == 0);
}

}  // namespace

US_API cudaError_t cudaDriverGetVersion(int* version) {
  us::cuda::initialize_runtime();
  if (!version) return done(cudaErrorInvalidValue);
  *version = us::cuda::kVersion;
  return cudaSuccess;
}

US_API cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

US_API cudaError_t cudaGetDeviceCount(int* count) {
  us::cuda::initialize_runtime();
  if (!count) return done(cudaErrorInvalidValue);
  *count = static_cast<int>(us::cuda::device_count());
  return *count ? cudaSuccess : done(cudaErrorNoDevice);
}

US_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
  us::cuda::initialize_runtime();
  if (!prop) return done(cudaErrorInvalidValue);
  if (!us::cuda::is_device(device)) return done(cudaErrorInvalidDevice);
  fill(*prop, static_cast<us::u32>(device));
  return cudaSuccess;
}

US_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  us::cuda::initialize_runtime();
  if (!value || !us::cuda::is_attribute(attribute)) return done(cudaErrorInvalidValue);
  if (!us::cuda::is_device(device)) return done(cudaErrorInvalidDevice);
  *value = static_cast<int>(us::cuda::attribute_of(static_cast<us::u32>(device), static_cast<Attribute>(attribute)));
  return cudaSuccess;
}

US_API cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wish) {
  us::cuda::initialize_runtime();
  if (!device || !wish) return done(cudaErrorInvalidValue);
  int best = -1;
  for (us::u32 i = 0; i < us::cuda::device_count(); ++i) {
    const int met = score(*wish, i);
    if (met > best) best = met, *device = static_cast<int>(i);
  }
  return best >= 0 ? cudaSuccess : done(cudaErrorNoDevice);
}

US_API cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  us::cuda::initialize_runtime();
  if (!text || size <= 0) return done(cudaErrorInvalidValue);
  if (!us::cuda::is_device(device)) return done(cudaErrorInvalidDevice);
  return us::cuda::pci_bus_id(static_cast<us::u32>(device), text, static_cast<us::u32>(size))
             ? cudaSuccess
             : done(cudaErrorInvalidValue);
}

US_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  us::cuda::initialize_runtime();
  if (!device || !text) return done(cudaErrorInvalidValue);
  const int found = us::cuda::device_by_pci_bus_id(text);
  if (found < 0)
    return done(std::isxdigit(static_cast<unsigned char>(*text)) ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  *device = found;
  return cudaSuccess;
}
