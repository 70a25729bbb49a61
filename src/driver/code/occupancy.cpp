// SPDX-License-Identifier: Apache-2.0
#include "driver/code/occupancy.h"

#include <algorithm>

namespace us::driver {
namespace {

constexpr u32 kSubPartitions = 4;  // an SM's register file and schedulers come in four parts
constexpr u32 kRegisterStep = 8;   // a thread's registers come in such steps

u64 round_up(u64 v, u64 to) { return (v + to - 1) / to * to; }

u64 shared_of_block(const DeviceSpec& d, u64 shared) {
  return round_up(shared + d.shared_reserved_per_block, d.shared_granularity);
}

// Warps of one thread's registers each that an SM has room for.
u32 warps_that_fit(const DeviceSpec& d, u32 registers) {
  const u64 per_warp = round_up(u64{registers} * d.warp_size, d.reg_granularity);
  return static_cast<u32>(d.regs_per_sm / kSubPartitions / per_warp * kSubPartitions);
}

u32 by_registers(const DeviceSpec& d, const BlockNeeds& n, u32 warps) {
  if (n.registers == 0) return d.max_blocks_per_sm;
  return warps_that_fit(d, n.registers) / warps;
}

BlockNeeds needs(const Function& f, const Resources& r, u32 threads, u64 dynamic_shared) {
  return {threads, r.registers, r.shared_static + dynamic_shared, f.carveout.load(),
          dynamic_shared <= static_cast<u64>(f.max_dynamic_shared.load())};
}

}  // namespace

BlockNeeds needs_of(const Function& f, u32 threads, u64 dynamic_shared) {
  return needs(f, f.resources(), threads, dynamic_shared);
}

BlockNeeds needs_at_hand(const Function& f, u32 threads, u64 dynamic_shared) {
  return needs(f, f.resources_at_hand(), threads, dynamic_shared);
}

u32 threads_that_fit(const DeviceSpec& d, u32 registers) {
  return registers ? std::min(warps_that_fit(d, registers) * d.warp_size, d.max_threads_per_block)
                   : d.max_threads_per_block;
}

// The warps are dealt out to the parts of the register file: one that has a warp more than the others sets the limit.
u32 registers_that_fit(const DeviceSpec& d, u32 threads) {
  const u64 dealt = round_up(std::max(threads, 1u), u64{kSubPartitions} * d.warp_size);
  return std::min(static_cast<u32>(d.regs_per_block / dealt / kRegisterStep * kRegisterStep), d.max_regs_per_thread);
}

// A carveout is a wish: the smallest split that is at least as large, but never so small that not even one block fits.
u64 shared_per_sm(const DeviceSpec& d, const BlockNeeds& n) {
  const u64 one = shared_of_block(d, n.shared);
  const u64 largest = d.shared_per_sm;
  if (n.carveout < 0) return largest;
  const u64 wish = largest * static_cast<u64>(std::min(n.carveout, 100)) / 100;
  for (const u32 kb : d.shared_carveouts_kb)
    if (const u64 bytes = u64{kb} * 1024; bytes >= wish && bytes >= one) return bytes;
  return largest;
}

static u32 warps_of(const DeviceSpec& d, u32 threads) { return (threads + d.warp_size - 1) / d.warp_size; }
static u32 by_warps(const DeviceSpec& d, u32 warps) { return d.max_threads_per_sm / d.warp_size / warps; }
static u32 by_shared(const DeviceSpec& d, const BlockNeeds& n) {
  return static_cast<u32>(shared_per_sm(d, n) / shared_of_block(d, n.shared));
}

u32 blocks_per_sm(const DeviceSpec& d, const BlockNeeds& n) {
  if (!n.allowed || n.threads == 0 || n.threads > d.max_threads_per_block) return 0;
  const u32 warps = warps_of(d, n.threads);
  return std::min({d.max_blocks_per_sm, by_warps(d, warps), by_registers(d, n, warps), by_shared(d, n)});
}

// The split that the driver takes where nobody wishes for one: room for more than the blocks that fit by their threads,
// if these are few. The same in 367 of 382 kernels that an H200 ran (oracle/timing, launch__shared_mem_config_size).
u64 usual_split(const DeviceSpec& d, const BlockNeeds& n, u32 blocks) {
  constexpr u64 kMostSpared = 132 << 10, kMostIdle = 32 << 10;
  const u64 one = shared_of_block(d, n.shared), need = blocks * one;
  const u32 by_threads = std::min(d.max_blocks_per_sm, by_warps(d, warps_of(d, n.threads)));
  const u64 all = by_threads * one;
  const u64 spared = by_threads >= 20 ? all : by_threads >= 4 && by_threads < 12 ? 2 * all : all * 8 / 5;
  u64 wish = all > d.shared_per_sm ? need : std::max(need, std::min(spared, kMostSpared));
  wish = std::max(wish, std::min(kMostIdle, u64{by_threads} << 12));
  for (const u32 kb : d.shared_carveouts_kb)
    if (const u64 bytes = u64{kb} * 1024; bytes >= wish) return bytes;
  return d.shared_per_sm;
}

// Multiprocessors on which clusters of so many blocks can stand at a time, one block on each.
u32 sms_of_clusters(const DeviceSpec& d, u32 blocks) {
  u32 sms = 0;
  for (const u32 of_gpc : d.gpc_sms) sms += of_gpc / blocks * blocks;
  return sms ? sms : d.sms;
}

// CUfunc_cache: the part for shared memory, per cent; -1: whatever it is.
static int carveout_of(int cache_config) {
  constexpr int kParts[] = {-1, 100, 0, 50};  // none, shared, L1, equal
  return cache_config > 0 && cache_config < 4 ? kParts[cache_config] : -1;
}

probe::Residency residency(const DeviceSpec& d, const Function& f, u32 threads, u64 dynamic_shared,
                           u32 cluster_blocks) {
  const BlockNeeds n = needs_of(f, threads, dynamic_shared);
  const u32 warps = warps_of(d, threads);
  probe::Residency r;
  r.device = d.name;
  r.cluster_sms = cluster_blocks > 1 ? sms_of_clusters(d, cluster_blocks) : d.sms;
  r.sms = d.sms, r.warps_per_sm = d.max_threads_per_sm / d.warp_size;
  r.registers = n.registers, r.origin = name_of(f.resources().origin);
  r.shared = shared_of_block(d, n.shared), r.shared_system = d.shared_reserved_per_block;
  r.blocks = blocks_per_sm(d, n);
  BlockNeeds wish = n;
  if (wish.carveout < 0) wish.carveout = carveout_of(f.cache_config);
  r.shared_wish = wish.carveout < 0 ? 0 : shared_per_sm(d, wish) + 1;
  r.shared_per_sm = n.carveout < 0 ? usual_split(d, n, r.blocks) : shared_per_sm(d, n);
  r.by_registers = by_registers(d, n, warps), r.by_shared = static_cast<u32>(r.shared_per_sm / r.shared);
  r.by_warps = by_warps(d, warps), r.by_blocks = d.max_blocks_per_sm;
  return r;
}

// A cluster stands inside one GPC of at least as many SMs as it has blocks; what is left of a GPC stays idle.
u32 clusters_per_device(const DeviceSpec& d, const BlockNeeds& n, u32 cluster_blocks) {
  if (cluster_blocks == 0) return 0;
  const u32 blocks = std::min(blocks_per_sm(d, n), d.max_cluster_blocks_per_sm);
  u32 clusters = 0;
  for (const u32 sms : d.gpc_sms)
    if (sms >= cluster_blocks) clusters += sms * blocks / cluster_blocks;
  return clusters;
}

Error available_dynamic_shared(const DeviceSpec& d, const Function& f, u32 blocks, u32 threads, u64& out) {
  const u64 limit = static_cast<u64>(std::max(0, f.max_dynamic_shared.load()));
  if (blocks == 0 || blocks_per_sm(d, needs_of(f, threads, 0)) < blocks) return Error::InvalidValue;
  const u64 share =
      shared_per_sm(d, needs_of(f, threads, limit)) / blocks / d.shared_granularity * d.shared_granularity;
  const u64 taken = f.resources().shared_static;
  out = share > taken ? std::min(share - taken, limit) : 0;
  return Error::Success;
}

u32 max_potential_cluster(const DeviceSpec& d, const Function& f) {
  return f.non_portable_cluster.load() ? d.max_cluster : d.max_cluster_portable;
}

}  // namespace us::driver
