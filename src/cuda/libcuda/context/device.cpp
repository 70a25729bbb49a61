// SPDX-License-Identifier: Apache-2.0
// Initialization, Version Management and Device Management: what needs only the preset.
#include <cuda.h>

#include <cstring>

#include "cuda/api.h"
#include "cuda/devices.h"

using us::driver::Attribute;
using us::driver::Quantity;

namespace {

// The answer to a question about `device` whose results go to pointers, all of which must be given.
template <class... Out>
CUresult check(CUdevice device, const Out*... out) {
  if (!us::cuda::initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (((out == nullptr) || ...)) return CUDA_ERROR_INVALID_VALUE;
  return us::cuda::is_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

us::i64 fact(CUdevice device, Attribute a) { return us::cuda::attribute_of(static_cast<us::u32>(device), a); }

}  // namespace

US_API CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (us::cuda::device_count() == 0) return CUDA_ERROR_NO_DEVICE;
  us::cuda::initialize();
  return CUDA_SUCCESS;
}

US_API CUresult cuDriverGetVersion(int* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = us::cuda::kVersion;
  return CUDA_SUCCESS;
}

US_API CUresult cuDeviceGetCount(int* count) {
  if (!us::cuda::initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(us::cuda::device_count());
  return CUDA_SUCCESS;
}

US_API CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (const CUresult e = check(ordinal, device)) return e;
  *device = ordinal;
  return CUDA_SUCCESS;
}

US_API CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  if (const CUresult e = check(device, name)) return e;
  if (size <= 0) return CUDA_ERROR_INVALID_VALUE;
  const std::string_view text = us::cuda::preset_of(static_cast<us::u32>(device)).name;
  const size_t n = text.copy(name, static_cast<size_t>(size) - 1);
  std::memset(name + n, 0, static_cast<size_t>(size) - n);
  return CUDA_SUCCESS;
}

// cuda.h names the current versions: cuDeviceTotalMem is cuDeviceTotalMem_v2, cuDeviceGetUuid is cuDeviceGetUuid_v2.
US_API CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  if (const CUresult e = check(device, bytes)) return e;
  *bytes = static_cast<size_t>(us::cuda::preset_of(static_cast<us::u32>(device))[Quantity::TotalMemory]);
  return CUDA_SUCCESS;
}

US_API CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  if (const CUresult e = check(device, uuid)) return e;
  us::cuda::uuid_of(static_cast<us::u32>(device), reinterpret_cast<us::u8*>(uuid->bytes));
  return CUDA_SUCCESS;
}
#undef cuDeviceGetUuid
US_API CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device);
US_API CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

US_API CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  if (const CUresult e = check(device, value)) return e;
  if (!us::cuda::is_attribute(attribute)) return CUDA_ERROR_INVALID_VALUE;
  *value = static_cast<int>(fact(device, static_cast<Attribute>(attribute)));
  return CUDA_SUCCESS;
}

US_API CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  if (const CUresult e = check(device, major, minor)) return e;
  *major = static_cast<int>(fact(device, Attribute::COMPUTE_CAPABILITY_MAJOR));
  *minor = static_cast<int>(fact(device, Attribute::COMPUTE_CAPABILITY_MINOR));
  return CUDA_SUCCESS;
}

US_API CUresult cuDeviceGetProperties(CUdevprop* prop, CUdevice device) {
  if (const CUresult e = check(device, prop)) return e;
  const auto value = [&](Attribute a) { return static_cast<int>(fact(device, a)); };
  prop->maxThreadsPerBlock = value(Attribute::MAX_THREADS_PER_BLOCK);
  prop->maxThreadsDim[0] = value(Attribute::MAX_BLOCK_DIM_X);
  prop->maxThreadsDim[1] = value(Attribute::MAX_BLOCK_DIM_Y);
  prop->maxThreadsDim[2] = value(Attribute::MAX_BLOCK_DIM_Z);
  prop->maxGridSize[0] = value(Attribute::MAX_GRID_DIM_X);
  prop->maxGridSize[1] = value(Attribute::MAX_GRID_DIM_Y);
  prop->maxGridSize[2] = value(Attribute::MAX_GRID_DIM_Z);
  prop->sharedMemPerBlock = value(Attribute::MAX_SHARED_MEMORY_PER_BLOCK);
  prop->totalConstantMemory = value(Attribute::TOTAL_CONSTANT_MEMORY);
  prop->SIMDWidth = value(Attribute::WARP_SIZE);
  prop->memPitch = value(Attribute::MAX_PITCH);
  prop->regsPerBlock = value(Attribute::MAX_REGISTERS_PER_BLOCK);
  prop->clockRate = value(Attribute::CLOCK_RATE);
  prop->textureAlign = value(Attribute::TEXTURE_ALIGNMENT);
  return CUDA_SUCCESS;
}

US_API CUresult cuDeviceGetPCIBusId(char* text, int size, CUdevice device) {
  if (const CUresult e = check(device, text)) return e;
  const bool fits = size > 0 && us::cuda::pci_bus_id(static_cast<us::u32>(device), text, static_cast<us::u32>(size));
  return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

US_API CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  if (!us::cuda::initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!device || !text) return CUDA_ERROR_INVALID_VALUE;
  const int found = us::cuda::device_by_pci_bus_id(text);
  if (found < 0) return CUDA_ERROR_INVALID_DEVICE;
  *device = found;
  return CUDA_SUCCESS;
}
