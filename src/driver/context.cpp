// SPDX-License-Identifier: Apache-2.0
// Life of a context, its limits and its fault report. Streams, work and memory: context_*.cpp.
#include "driver/context.h"

#include <algorithm>

#include "driver/code/modules.h"
#include "driver/device.h"
#include "driver/graph/capture.h"
#include "driver/memory/array.h"
#include "driver/runtime.h"

namespace us::driver {
namespace {

// CUlimit / cudaLimit
constexpr int kStack = 0, kPrintfFifo = 1, kMallocHeap = 2, kSyncDepth = 3, kPendingLaunches = 4, kL2Fetch = 5,
              kL2Persisting = 6;

void report(Runtime& runtime, const device::Fault& f) {
  runtime.report(f.message);
  const auto& listener = runtime.settings().unimplemented;
  if (listener && f.outcome == device::Outcome::NotSupported)
    listener(std::string_view(f.message).substr(0, f.message.find('\n')));
}

// The value that takes effect for one that was asked for, as an H200 answers.
Error limit_for(Device& device, int which, u64& value) {
  constexpr u64 kMostStack = 512u << 10, kLeastFifo = 512u << 10, kMostFetch = 128, kPersistingParts = 16;
  const DeviceSpec& d = device.spec();
  switch (which) {
    case kStack:
      if (value > kMostStack) return Error::InvalidValue;
      value = (value + 15) / 16 * 16;
      return Error::Success;
    case kPrintfFifo:
      value = std::max(value, kLeastFifo);
      return Error::Success;
    case kMallocHeap:
      return value > device.heap().capacity() - device.heap().used() ? Error::OutOfMemory : Error::Success;
    case kL2Fetch:
      return value > kMostFetch ? Error::InvalidValue : Error::Success;
    case kL2Persisting: {
      if (value > d.max_persisting_l2) return Error::InvalidValue;
      const u64 part = std::max<u64>(d.l2_bytes / kPersistingParts, 1);
      value = (value + part - 1) / part * part;
      return Error::Success;
    }
    case kPendingLaunches:
      return Error::Success;
    default:
      return which == kSyncDepth ? Error::UnsupportedLimit : Error::InvalidValue;
  }
}

}  // namespace

Context::Context(Device& d, bool primary, u64 id)
    : device_(d),
      primary_(primary),
      id_(id),
      executor_(std::make_unique<Executor>(d.gpu(), d.runtime().telling())),
      legacy_(*this, Stream::Kind::Legacy, false, 0, 1),
      gather_(*this, Stream::Kind::User, true, 0, 0),
      order_(*executor_, legacy_),
      modules_(std::make_unique<Modules>(*this)) {
  const DeviceSpec& s = d.spec();
  limits_ = {{kStack, s.limit_stack},
             {kPrintfFifo, s.limit_printf_fifo},
             {kMallocHeap, s.limit_malloc_heap},
             {kPendingLaunches, 2048},
             {kL2Fetch, 64},
             {kL2Persisting, s.limit_persisting_l2}};
  executor_->on_fault([this](const device::Fault& f) { report(runtime(), f); });
  d.heap().charge(s.context_memory);
  runtime().context_made(this);
}

Context::~Context() {
  for (const auto& [handle, s] : streams_) runtime().captures().forget(*s);
  for (const auto& [thread, s] : thread_streams_) runtime().captures().forget(*s);
  executor_->wait_idle();
  runtime().context_gone(this);
  modules_.reset();
  std::vector<memory::Allocation> mine;
  runtime().registry().remove_if([&](const memory::Allocation& a) {
    if (a.owner == this) mine.push_back(a);
    return a.owner == this;
  });
  for (const auto& a : mine) release_memory(a);
  runtime().arrays().forget(*this);
  device_.heap().uncharge(device_.spec().context_memory);
}

Runtime& Context::runtime() const { return device_.runtime(); }

Error Context::get_limit(int which, u64& out) {
  std::lock_guard l(m_);
  const auto it = limits_.find(which);
  if (it == limits_.end()) return which == kSyncDepth ? Error::UnsupportedLimit : Error::InvalidValue;
  out = it->second;
  return Error::Success;
}

Error Context::set_limit(int which, u64 value) {
  US_TRY(runtime().captures().unsafe());
  US_TRY(limit_for(device_, which, value));
  std::lock_guard l(m_);
  if (which == kMallocHeap && !device_.gpu().set_malloc_heap(value)) return Error::InvalidValue;
  if (which == kStack) stack_bytes_ = static_cast<u32>(value);
  if (which == kPrintfFifo) device_.gpu().set_printf_fifo(value);
  limits_[which] = value;
  return Error::Success;
}

}  // namespace us::driver
