// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/host_calls.h"

#include <algorithm>

#include <fmt/format.h>

namespace us::sanitizer {
namespace {

// Answers to a question rather than failures: not ready, already enabled, not supported.
constexpr int kAnswers[] = {600, 704, 801};
// The device stopped at an earlier fault, which is reported itself.
constexpr int kAfterFault[] = {700, 702, 709, 710, 714, 715, 716, 717, 718, 719};
// A capture was broken by an earlier call.
constexpr int kAfterCapture[] = {901};

template <class List>
bool among(const List& list, int code) {
  return std::ranges::find(list, code) != std::end(list);
}

constexpr int kInvalidValue = 1;
constexpr int kNotFound = 500;

// Is a function there? No.
bool asks_for_function(const HostCall& c) {
  return c.result == kNotFound &&
         (c.name.starts_with("cuGetProcAddress") || c.name.starts_with("cudaGetDriverEntryPoint"));
}

}  // namespace

Finding HostCalls::finding(Check c, const HostCall& call, const HostStack::Addresses& stack) const {
  Finding f;
  f.check = c;
  f.object = fmt::format("{}: {} ({})", call.name, call.result_name, call.result);
  f.parties.push_back({.action = "call", .site = stack_.in_words(stack), .who = "the host", .others = 0});
  return f;
}

void HostCalls::unchecked(const Open& o) {
  Finding f = finding(Check::ApiUnchecked, o.call, o.stack);
  f.why = {"The launch failed, and nobody asked for the error: the kernel did not run."};
  f.fix = "call cudaGetLastError() behind the launch.";
  sink_.found(f);
}

void HostCalls::ended(const HostCall& call) {
  const bool fails = call.result != 0 && !among(kAnswers, call.result) && !among(kAfterFault, call.result) &&
                     !among(kAfterCapture, call.result) && !asks_for_function(call);
  if (!fails && !call.asks) return;
  const auto me = std::this_thread::get_id();
  std::unique_lock l(m_);
  if (call.asks) {
    open_.erase(me);
    return;
  }
  Open forgotten;
  if (const auto it = open_.find(me); it != open_.end() && call.launches) {
    forgotten = std::move(it->second);
    open_.erase(it);
  }
  HostStack::Addresses stack = stack_.take();
  if (call.launches) open_[me] = {call, stack};
  l.unlock();
  if (forgotten.call.result) unchecked(forgotten);
  if (!call.frees || call.result != kInvalidValue) return sink_.found(finding(Check::ApiError, call, stack));
  Finding f = finding(Check::InvalidFree, call, stack);
  f.why = {fmt::format("0x{:x} is not the start of memory that is allocated: it was freed before, or never allocated.",
                       call.argument)};
  sink_.found(f);
}

void HostCalls::process_ends() {
  std::map<std::thread::id, Open> open;
  {
    std::lock_guard l(m_);
    open.swap(open_);
  }
  for (const auto& [thread, o] : open) unchecked(o);
}

}  // namespace us::sanitizer
