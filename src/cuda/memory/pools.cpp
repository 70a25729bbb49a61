// SPDX-License-Identifier: Apache-2.0
// The rules here are those that an H100's driver was seen to follow (oracle/programs/api_pool_kinds.txt).
#include "cuda/memory/pools.h"

#include "cuda/devices.h"
#include "cuda/state.h"
#include "driver/memory/mem_pool.h"

namespace us::cuda {
using driver::Error;
using driver::MemPool;
using Home = MemPool::Home;

namespace {

constexpr int kNumaNodes = 1;  // the virtual host has one

bool numbered(const CUmemLocation& l) {
  switch (l.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return is_device(l.id);
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      return l.id >= 0 && l.id < kNumaNodes;
    default:
      return true;  // the number means nothing
  }
}

bool has_number(const CUmemLocation& l) {
  return l.type == CU_MEM_LOCATION_TYPE_DEVICE || l.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
}

Home home_of(const CUmemLocation& l, bool managed) {
  Home h;
  h.kind = managed                                 ? Home::Kind::Managed
           : l.type == CU_MEM_LOCATION_TYPE_DEVICE ? Home::Kind::Device
                                                   : Home::Kind::Host;
  if (l.type == CU_MEM_LOCATION_TYPE_DEVICE) h.device = static_cast<u32>(l.id);
  if (h.kind != Home::Kind::Device) h.place = u64(l.type) << 32 | (has_number(l) ? static_cast<u32>(l.id) : 0);
  return h;
}

bool is_kind(int type) { return type == CU_MEM_ALLOCATION_TYPE_PINNED || type == CU_MEM_ALLOCATION_TYPE_MANAGED; }

}  // namespace

Error pool_home(const CUmemLocation* l, int type, Home& out) {
  const bool managed = type == CU_MEM_ALLOCATION_TYPE_MANAGED;
  if (!l || !is_kind(type) || l->type > CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT) return Error::InvalidValue;
  if (l->type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT) return Error::NotSupported;
  if (l->type == CU_MEM_LOCATION_TYPE_NONE && !managed) return Error::InvalidValue;
  if (!numbered(*l)) return l->type == CU_MEM_LOCATION_TYPE_DEVICE ? Error::InvalidDevice : Error::InvalidValue;
  out = home_of(*l, managed);
  return Error::Success;
}

Error create_pool(const CUmemPoolProps& p, MemPool*& out) {
  const bool managed = p.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
  const bool shared = p.handleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  if (!is_kind(p.allocType) || !numbered(p.location)) return Error::InvalidValue;
  if (!shared && p.handleTypes != CU_MEM_HANDLE_TYPE_NONE) return Error::NotSupported;
  switch (p.location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      break;
    case CU_MEM_LOCATION_TYPE_HOST:
      if (shared) return Error::InvalidValue;
      break;
    case CU_MEM_LOCATION_TYPE_NONE:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      if (!managed) return Error::InvalidValue;
      break;
    default:
      return Error::InvalidValue;
  }
  if (managed && (shared || p.maxSize)) return Error::InvalidValue;
  out = &runtime().pools().create(home_of(p.location, managed), p.maxSize,
                                  shared ? MemPool::Sharing::Exportable : MemPool::Sharing::None);
  return Error::Success;
}

Error get_access(const MemPool& p, const CUmemLocation& l, CUmemAccess_flags& out) {
  bool reached = false;
  if (l.type == CU_MEM_LOCATION_TYPE_DEVICE && is_device(l.id))
    reached = p.reached_by(static_cast<u32>(l.id));
  else if (l.type == CU_MEM_LOCATION_TYPE_HOST || (l.type == CU_MEM_LOCATION_TYPE_HOST_NUMA && numbered(l)))
    reached = p.home().kind == Home::Kind::Host;
  else
    return Error::InvalidValue;
  out = reached ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return Error::Success;
}

}  // namespace us::cuda
