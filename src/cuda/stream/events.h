// SPDX-License-Identifier: Apache-2.0
// What both APIs do with events. Their flags have the same numbers.
#pragma once
#include "cuda/state.h"
#include "driver/order/event.h"

namespace us::cuda {

bool event_flags_fit(unsigned flags);
driver::Error create_event(driver::Context&, unsigned flags, driver::Event*& out);
driver::Error record_event(driver::Context&, driver::Stream&, const void* event, bool external);
driver::Error wait_event(driver::Context&, driver::Stream&, const void* event, bool external);

// A broken context's error comes before the answer.
driver::Error query_event(driver::Event&);
driver::Error synchronize_event(driver::Event&);
driver::Error elapsed_between(driver::Event& start, const void* end, float& ms);

}  // namespace us::cuda
