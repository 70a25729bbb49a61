// SPDX-License-Identifier: Apache-2.0
// The one instance of everything, and what each thread of the program has chosen.
#pragma once
#include "driver/code/modules.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/graph/graph.h"
#include "driver/green.h"
#include "driver/memory/pools.h"
#include "driver/runtime.h"

namespace us::cuda {

driver::Runtime& runtime();  // made on first use; lives until the process ends
driver::Runtime* runtime_if_made();
bool wait_for_work();  // that the program left, a minute at most. False: some is left still

// One launch configuration between <<<>>> and the stub it calls.
struct CallConfig {
  device::Dim3 grid, block;
  u64 shared = 0;
  void* stream = nullptr;
};

struct ThreadState {
  struct Slot {
    driver::Context* context;
    u64 id;                                 // a destroyed context's address may be used again
    driver::GreenContext* green = nullptr;  // it is current as this one's
    const void* handle() const { return green ? static_cast<const void*>(green) : context; }
  };
  std::vector<Slot> stack;  // of current contexts, top last
  u32 device = 0;           // cudaSetDevice
  std::vector<CallConfig> calls;
  driver::CaptureMode capture_mode = driver::CaptureMode::Global;  // cudaThreadExchangeStreamCaptureMode
  bool per_thread_default = false;  // inside a _ptsz or _ptds entry point: stream 0 is the per-thread one
};
ThreadState& thread_state();

bool alive(const ThreadState::Slot&);
void make_current(driver::Context*,
                  driver::GreenContext* = nullptr);  // replaces the top of the stack; nullptr empties it
driver::GreenContext* current_green();
// In the context; of the green context, if one is current.
driver::Stream& create_stream(driver::Context&, bool non_blocking, int priority);

// The context a runtime API call works in: the current one, else the primary one of the thread's device (made now).
driver::Context& runtime_context();
// The context a driver API call works in: InvalidContext without one, ContextIsDestroyed if it is gone.
driver::Error driver_context(driver::Context*& out);

// A stream handle of the program: 0, the two reserved handles, or one that was made; in whatever context.
struct StreamRef {
  std::shared_ptr<driver::Stream> hold;
  driver::Stream* stream = nullptr;
  driver::Stream& operator*() const { return *stream; }
  driver::Context& context() const { return stream->context(); }
};
driver::Error find_stream(driver::Context& current, const void* handle, StreamRef& out);
// The same for a driver API call, which needs a current context only for the streams that belong to one.
driver::Error driver_stream(const void* handle, StreamRef& out);

// Lives in the _ptsz and _ptds variants, which are the plain entry points under another default stream.
class PerThreadDefault {
 public:
  PerThreadDefault() : before_(std::exchange(thread_state().per_thread_default, true)) {}
  ~PerThreadDefault() { thread_state().per_thread_default = before_; }

 private:
  bool before_;
};

driver::Error find_event(const void* handle, std::shared_ptr<driver::Event>& out);

}  // namespace us::cuda
