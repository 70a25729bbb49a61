// SPDX-License-Identifier: Apache-2.0
#include "driver/code/launch.h"

#include "driver/code/module.h"
#include "driver/code/occupancy.h"
#include "driver/context.h"
#include "driver/device.h"

namespace us::driver {
namespace {

bool has_zero(const device::Dim3& d) { return d.x == 0 || d.y == 0 || d.z == 0; }
bool exceeds(const device::Dim3& d, const u32 (&limit)[3]) {
  return d.x > limit[0] || d.y > limit[1] || d.z > limit[2];
}
u64 volume(const device::Dim3& d) { return u64{d.x} * d.y * d.z; }

Error check_shape(const DeviceSpec& d, const LaunchConfig& c) {
  if (has_zero(c.grid) || has_zero(c.block)) return Error::InvalidValue;
  if (exceeds(c.block, d.max_block) || volume(c.block) > d.max_threads_per_block) return Error::InvalidValue;
  if (exceeds(c.grid, d.max_grid)) return Error::InvalidValue;
  return Error::Success;
}

Error check_bounds(const FunctionInfo& i, const LaunchConfig& c) {
  if (i.reqntid && (c.block.x != i.block_limit[0] || c.block.y != i.block_limit[1] || c.block.z != i.block_limit[2]))
    return Error::InvalidValue;
  if (volume(c.block) > i.max_threads_per_block) return Error::InvalidValue;
  return Error::Success;
}

Error check_shared(const Function& f, const LaunchConfig& c) {
  return c.dynamic_shared > static_cast<u64>(f.max_dynamic_shared.load()) ? Error::InvalidValue : Error::Success;
}

// Larger clusters that a device may form instead of the regular ones. One of compute capability 9.0 never does; the
// rules hold.
Error check_preferred(const LaunchConfig& c, const device::Dim3& regular, bool given) {
  const device::Dim3& p = c.preferred_cluster;
  if (!p.x) return Error::Success;
  const bool multiple = p.x % regular.x == 0 && p.y % regular.y == 0 && p.z == regular.z;
  const bool divides = c.grid.x % p.x == 0 && c.grid.y % p.y == 0 && c.grid.z % p.z == 0;
  return given && multiple && divides ? Error::Success : Error::InvalidClusterSize;
}

}  // namespace

Error cluster_of(const DeviceSpec& d, const Function& f, const LaunchConfig& c, device::Dim3& cluster) {
  const FunctionInfo& i = f.info();
  const bool fixed = i.cluster[0] != 0;
  cluster = c.cluster.x ? c.cluster : device::Dim3{1, 1, 1};
  if (fixed) {
    if (c.cluster.x && (c.cluster.x != i.cluster[0] || c.cluster.y != i.cluster[1] || c.cluster.z != i.cluster[2]))
      return Error::InvalidClusterSize;
    cluster = {i.cluster[0], i.cluster[1], i.cluster[2]};
  }
  if (has_zero(cluster)) return Error::InvalidClusterSize;
  US_TRY(check_preferred(c, cluster, fixed || c.cluster.x));
  const u64 blocks = volume(cluster);
  if (blocks == 1) return Error::Success;
  if (blocks > max_potential_cluster(d, f) || (i.max_cluster_rank && blocks > i.max_cluster_rank))
    return Error::InvalidClusterSize;
  if (c.grid.x % cluster.x || c.grid.y % cluster.y || c.grid.z % cluster.z) return Error::InvalidClusterSize;
  return Error::Success;
}

// What a launch is judged by. An estimate will do where half of it and the most it may stand for lead to the same
// verdict.
BlockNeeds needs_to_judge(const Function& f, const LaunchConfig& c) {
  const DeviceSpec& d = f.module().context().device().spec();
  const u32 threads = static_cast<u32>(volume(c.block));
  const BlockNeeds needs = needs_at_hand(f, threads, c.dynamic_shared);
  if (f.resources_at_hand().origin != FactSource::Estimate) return needs;
  const auto verdict = [&](u32 registers) {
    BlockNeeds n = needs;
    n.registers = registers;
    const u64 resident = u64{blocks_per_sm(d, n)} * d.sms;
    return (resident == 0) + 2 * (c.cooperative && volume(c.grid) > resident);
  };
  const bool same = verdict(needs.registers / 2) == verdict(f.resources_at_hand().registers_at_most);
  return same ? needs : needs_of(f, threads, c.dynamic_shared);
}

Error validate(const Function& f, const LaunchConfig& c, device::Dim3& cluster) {
  const DeviceSpec& d = f.module().context().device().spec();
  US_TRY(check_shape(d, c));
  US_TRY(check_shared(f, c));
  US_TRY(check_bounds(f.info(), c));
  US_TRY(cluster_of(d, f, c, cluster));
  const u64 resident = u64{blocks_per_sm(d, needs_to_judge(f, c))} * d.sms;
  if (resident == 0) return Error::LaunchOutOfResources;
  if (c.cooperative && volume(c.grid) > resident) return Error::CooperativeLaunchTooLarge;
  return Error::Success;
}

}  // namespace us::driver
