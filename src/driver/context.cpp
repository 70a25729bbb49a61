// SPDX-License-Identifier: Apache-2.0
// Life of a context, its limits and its fault report. Streams, work, memory and code: context_*.cpp.
#include "driver/context.h"

#include "driver/device.h"
#include "driver/runtime.h"

namespace us::driver {
namespace {

// CUlimit / cudaLimit
constexpr int kStack = 0, kPrintfFifo = 1, kMallocHeap = 2, kSyncDepth = 3, kPendingLaunches = 4, kL2Fetch = 5,
              kL2Persisting = 6;

}  // namespace

Context::Context(Device& d, bool primary, u64 id)
    : device_(d),
      primary_(primary),
      id_(id),
      executor_(std::make_unique<Executor>(d.gpu())),
      legacy_(*this, Stream::Kind::Legacy, false, 0, 1) {
  const DeviceSpec& s = d.spec();
  limits_ = {{kStack, s.limit_stack},
             {kPrintfFifo, s.limit_printf_fifo},
             {kMallocHeap, s.limit_malloc_heap},
             {kL2Fetch, 64},
             {kL2Persisting, 0}};
  executor_->on_fault([this](const device::Fault& f) { report(f); });
  d.heap().charge(s.context_memory);
  runtime().context_made(this);
}

Context::~Context() {
  executor_->wait_idle();
  runtime().context_gone(this);
  kernel_functions_.clear();
  functions_.clear();
  modules_.clear();
  library_modules_.clear();
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

void Context::report(const device::Fault& f) {
  runtime().report(f.message);
  const auto& listener = runtime().settings().unimplemented;
  if (listener && f.outcome == device::Outcome::NotSupported)
    listener(std::string_view(f.message).substr(0, f.message.find('\n')));
}

Error Context::get_limit(int which, u64& out) {
  std::lock_guard l(m_);
  const auto it = limits_.find(which);
  if (it == limits_.end())
    return which == kSyncDepth || which == kPendingLaunches ? Error::UnsupportedLimit : Error::InvalidValue;
  out = it->second;
  return Error::Success;
}

Error Context::set_limit(int which, u64 value) {
  std::lock_guard l(m_);
  const auto it = limits_.find(which);
  if (it == limits_.end())
    return which == kSyncDepth || which == kPendingLaunches ? Error::UnsupportedLimit : Error::InvalidValue;
  it->second = value;
  return Error::Success;
}

}  // namespace us::driver
