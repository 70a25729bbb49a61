// SPDX-License-Identifier: Apache-2.0
#include "cuda/state.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "cuda/devices.h"
#include "cuda/process/driver_settings.h"

namespace us::cuda {
namespace {
constexpr u64 kLegacy = 1, kPerThread = 2;  // CU_STREAM_LEGACY, CU_STREAM_PER_THREAD
std::atomic<driver::Runtime*> made = nullptr;
}  // namespace

// Never destroyed: programs call us from their own static destructors and from threads that outlive main.
driver::Runtime& runtime() {
  static driver::Runtime* const instance = made = new driver::Runtime(driver_settings(config()));
  return *instance;
}

driver::Runtime* runtime_if_made() { return made; }

bool wait_for_work() {
  constexpr std::chrono::seconds kMost{60};
  const driver::Runtime* const r = made;
  const auto until = std::chrono::steady_clock::now() + kMost;
  while (r && r->busy() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return !r || !r->busy();
}

ThreadState& thread_state() {
  static thread_local ThreadState* const state = new ThreadState;  // as above: used by late destructors
  return *state;
}

bool alive(const ThreadState::Slot& s) {
  const driver::Context* c = runtime().find_context(s.context);
  return c && (c->primary() || c->id() == s.id) && (!s.green || runtime().find_green(s.green));
}

void make_current(driver::Context* c, driver::GreenContext* green) {
  auto& stack = thread_state().stack;
  if (!stack.empty()) stack.pop_back();
  if (c) stack.push_back({c, c->id(), green});
}

driver::GreenContext* current_green() {
  const auto& stack = thread_state().stack;
  if (stack.empty() || !stack.back().green) return nullptr;
  return runtime().find_green(stack.back().green);
}

driver::Stream& create_stream(driver::Context& c, bool non_blocking, int priority) {
  driver::Stream& s = c.create_stream(non_blocking, priority);
  driver::GreenContext* const green = current_green();
  if (green && &green->context() == &c) s.set_green(green->shared_from_this());
  return s;
}

driver::Context& runtime_context() {
  ThreadState& t = thread_state();
  if (!t.stack.empty() && alive(t.stack.back())) return *t.stack.back().context;
  initialize_runtime();
  driver::Context& primary = runtime().device(t.device).primary_for_runtime();
  make_current(&primary);
  return primary;
}

driver::Error driver_context(driver::Context*& out) {
  if (!initialized()) return driver::Error::NotInitialized;
  const ThreadState& t = thread_state();
  if (t.stack.empty()) return driver::Error::InvalidContext;
  if (!alive(t.stack.back())) return driver::Error::ContextIsDestroyed;
  out = t.stack.back().context;
  return driver::Error::Success;
}

driver::Error find_stream(driver::Context& current, const void* handle, StreamRef& out) {
  const u64 number = reinterpret_cast<u64>(handle);
  if (number <= kPerThread) {
    driver::GreenContext* const green = current_green();
    if (green && &green->context() == &current) {
      out.stream = &green->default_stream();
      return driver::Error::Success;
    }
    const bool own = number == kPerThread || (number == 0 && thread_state().per_thread_default);
    out.stream = own ? &current.per_thread_stream() : &current.legacy_stream();
    return driver::Error::Success;
  }
  out.hold = current.find_stream(handle);
  if (!out.hold) out.hold = runtime().find_stream(handle);
  out.stream = out.hold.get();
  return out.stream ? driver::Error::Success : driver::Error::InvalidHandle;
}

driver::Error driver_stream(const void* handle, StreamRef& out) {
  driver::Context* current = nullptr;
  const driver::Error none = driver_context(current);
  if (current) return find_stream(*current, handle, out);
  if (none == driver::Error::NotInitialized || reinterpret_cast<u64>(handle) <= kPerThread) return none;
  out.hold = runtime().find_stream(handle);
  out.stream = out.hold.get();
  return out.stream ? driver::Error::Success : driver::Error::InvalidHandle;
}

driver::Error find_event(const void* handle, std::shared_ptr<driver::Event>& out) {
  out = runtime().find_event(handle);
  return out ? driver::Error::Success : driver::Error::InvalidHandle;
}

}  // namespace us::cuda
