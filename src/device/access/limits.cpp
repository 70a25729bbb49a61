// SPDX-License-Identifier: Apache-2.0
#include "device/access/limits.h"

#include <fmt/format.h>

#include "device/functions/rt.h"
#include "device/schedule/machine.h"

namespace us::device {
namespace {

u64 of_local(const Warp& w) { return std::bit_cast<u64>(w.local) - kLocalBefore; }

}  // namespace

bool in_global(const Warp& w, u64 address) { return address - w.grid->global_start < w.grid->global_bytes; }

bool in_shared(const Warp& w, u32 offset, u64 bytes) {
  const u32 blocks = w.home->slot->grid->cluster_ctas;
  return offset / kCtaSharedStride < blocks && offset % kCtaSharedStride + bytes <= w.grid->shared_end;
}

bool in_local(const Warp& w, u64 offset, u64 bytes) {
  const u64 from_start = offset + kLocalBefore;
  return from_start < w.local_stride && from_start + bytes <= w.local_stride;
}

bool in_params(const Warp& w, u64 address) { return address - std::bit_cast<u64>(w.grid->params) < kParamBytes; }

Refusal refuse_global(const Warp& w, u64 address) {
  const bool shared = address - std::bit_cast<u64>(w.window) < kMaxCluster * kCtaSharedStride;
  if (shared || address - of_local(w) < w.local_stride * kWarpSize)
    return {Outcome::InvalidAddressSpace,
            fmt::format("global memory access at address {:#x}, which is a generic address of shared or local memory",
                        address),
            probe::Refused::Global};
  return {Outcome::IllegalAddress,
          fmt::format("illegal memory access at address {:#x}: {}", address,
                      address < 4096 ? "a null pointer, or an offset from one"
                                     : "no device, managed, pinned or registered memory is there"),
          probe::Refused::Global};
}

Refusal refuse_shared(const Warp& w, u32 offset, u64 bytes) {
  const u32 end = w.grid->shared_end, at = offset % kCtaSharedStride;
  if (offset / kCtaSharedStride >= w.home->slot->grid->cluster_ctas)
    return {Outcome::IllegalInstruction,
            fmt::format("shared memory access at offset {:#x}, which is outside of the shared window", offset),
            probe::Refused::Shared};
  return {
      Outcome::IllegalAddress,
      fmt::format("illegal shared memory access: {} bytes at offset {:#x}; the block has {} bytes (1024 reserved, {} "
                  "static, {} dynamic, rounded up to 128)",
                  bytes, at, end, w.grid->shared_static, w.grid->shared_dynamic),
      probe::Refused::Shared};
}

Refusal refuse_local(const Warp& w, u64 offset, u64 bytes) {
  return {Outcome::IllegalAddress,
          fmt::format("illegal local memory access: {} bytes at offset {} from the thread's "
                      "first frame; its local memory has {} bytes",
                      bytes, i64(offset), w.local_stride - kLocalBefore - kLocalBehind),
          probe::Refused::Local};
}

std::string overflow_text(const Warp& w) {
  return fmt::format(
      "stack overflow: calls nested too deeply for {} bytes of local memory (cudaLimitStackSize sets it)",
      w.local_stride - kLocalBefore - kLocalBehind);
}

void require_shared(Warp& w, u32 offset, u64 bytes, u32 lane) {
  if (in_shared(w, offset, bytes)) [[likely]]
    return;
  Refusal r = refuse_shared(w, offset, bytes);
  die(w, r.outcome, std::move(r.text), 1u << lane, r.what);
}

void require_generic(Warp& w, u64 address, u64 bytes, u32 lane) {
  if (in_global(w, address)) return;
  const u64 shared = address - std::bit_cast<u64>(w.window);
  if (shared < kMaxCluster * kCtaSharedStride) return require_shared(w, u32(shared), bytes, lane);
  const u64 local = address - of_local(w);
  if (local < w.local_stride * kWarpSize) {
    const u64 own = local - lane * w.local_stride;
    if (own + bytes <= w.local_stride) return;
    Refusal r = refuse_local(w, own - kLocalBefore, bytes);
    die(w, r.outcome, std::move(r.text), 1u << lane, r.what);
  }
  if (in_params(w, address)) return;
  Refusal r = refuse_global(w, address);
  die(w, Outcome::IllegalAddress, std::move(r.text), 1u << lane, r.what);
}

}  // namespace us::device
