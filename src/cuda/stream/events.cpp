// SPDX-License-Identifier: Apache-2.0
#include "cuda/stream/events.h"

#include <cuda.h>

#include "driver/order/shared_event.h"

namespace us::cuda {

using namespace driver;

static Error or_sticky(const Event& e, Error answer) {
  return failed(e.context().sticky()) ? e.context().sticky() : answer;
}

bool event_flags_fit(unsigned flags) {
  const bool interprocess = flags & CU_EVENT_INTERPROCESS, timing = !(flags & CU_EVENT_DISABLE_TIMING);
  return !(flags & ~7u) && !(interprocess && timing);
}

Error create_event(Context& c, unsigned flags, Event*& out) {
  const bool interprocess = flags & CU_EVENT_INTERPROCESS;
  auto shared = interprocess ? SharedEvent::make() : nullptr;
  if (interprocess && !shared) return Error::OutOfMemory;
  out = &c.create_event(!(flags & CU_EVENT_DISABLE_TIMING), flags & CU_EVENT_BLOCKING_SYNC, std::move(shared));
  return Error::Success;
}

Error record_event(Context& c, Stream& s, const void* event, bool external) {
  std::shared_ptr<Event> e;
  US_TRY(find_event(event, e));
  return c.record(*e, s, external);
}

Error wait_event(Context& c, Stream& s, const void* event, bool external) {
  std::shared_ptr<Event> e;
  US_TRY(find_event(event, e));
  return c.wait(s, *e, external);
}

Error query_event(Event& e) {
  US_TRY(runtime().captures().synchronize_event(e));
  const Error answer = e.query();
  return or_sticky(e, answer);
}

Error synchronize_event(Event& e) {
  US_TRY(runtime().captures().synchronize_event(e));
  const Error answer = e.synchronize();
  return or_sticky(e, answer);
}

Error elapsed_between(Event& start, const void* end, float& ms) {
  std::shared_ptr<Event> e;
  US_TRY(find_event(end, e));
  US_TRY(runtime().captures().elapsed(start));
  US_TRY(runtime().captures().elapsed(*e));
  return or_sticky(start, Event::elapsed_ms(start, *e, ms));
}

}  // namespace us::cuda
