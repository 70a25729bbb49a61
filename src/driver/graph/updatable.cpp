// SPDX-License-Identifier: Apache-2.0
// Kernel nodes that kernels change, and which of them there are.
#include <algorithm>

#include "driver/graph/graph.h"

namespace us::driver {

bool UpdatableNode::read(KernelOp& k) {
  std::lock_guard l(m_);
  k.block = block_;
  k.config.grid = grid_;
  return enabled_;
}

void UpdatableNode::write(const KernelOp& k, bool enabled) {
  std::lock_guard l(m_);
  block_ = k.block;
  grid_ = k.config.grid;
  enabled_ = enabled;
}

Error UpdatableNode::set_param(u64 offset, const void* value, u64 bytes) {
  const auto fits = [&] { return offset <= block_.size() && bytes <= block_.size() - offset; };
  {
    std::lock_guard l(m_);
    if (!value || !fits()) return Error::InvalidValue;
  }
  const auto* first = static_cast<const u8*>(value);  // reading it may fault: without the lock
  const std::vector<u8> copy(first, first + bytes);
  std::lock_guard l(m_);
  if (!fits()) return Error::InvalidValue;
  std::ranges::copy(copy, block_.begin() + static_cast<std::ptrdiff_t>(offset));
  return Error::Success;
}

Error UpdatableNode::set_enabled(bool on) {
  std::lock_guard l(m_);
  enabled_ = on;
  return Error::Success;
}

Error UpdatableNode::set_grid(const device::Dim3& grid) {
  if (!grid.x || !grid.y || !grid.z) return Error::InvalidValue;
  std::lock_guard l(m_);
  grid_ = grid;
  return Error::Success;
}

std::shared_ptr<UpdatableNode> Graphs::make_updatable() {
  std::lock_guard l(m_);
  auto n = std::make_shared<UpdatableNode>();
  std::erase_if(updatable_, [](const auto& entry) { return entry.second.expired(); });
  updatable_[n.get()] = n;
  return n;
}

std::shared_ptr<UpdatableNode> Graphs::find_updatable(const void* handle) const {
  std::lock_guard l(m_);
  const auto at = updatable_.find(handle);
  return at == updatable_.end() ? nullptr : at->second.lock();
}

}  // namespace us::driver
