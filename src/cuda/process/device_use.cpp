// SPDX-License-Identifier: Apache-2.0
#include "cuda/process/device_use.h"

#include "cuda/state.h"

namespace us::cuda {
namespace {

DeviceUse ask(u32 ordinal) {
  driver::Runtime* const r = runtime_if_made();
  if (!r || ordinal >= r->device_count()) return {};
  driver::Device& d = r->device(ordinal);
  u64 free = 0, total = 0;
  d.mem_info(free, total);
  return {total - free, d.busy_ns(), total != free};
}

}  // namespace

const DeviceUseTable* device_use() {
  static const DeviceUseTable table = {ask};
  return &table;
}

}  // namespace us::cuda
