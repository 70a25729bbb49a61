// SPDX-License-Identifier: Apache-2.0
// Advice about managed memory, as both APIs take it and tell it.
#pragma once
#include "cuda/state.h"
#include "driver/memory/advice.h"

namespace us::cuda {

driver::Error check_location(driver::Location, driver::Location& normal);  // InvalidValue, InvalidDevice
driver::Error advise(driver::Context&, u64 at, u64 bytes, int advice, driver::Location);
driver::Error prefetch(driver::Context&, driver::Stream&, u64 at, u64 bytes, driver::Location);
driver::Error check_managed(driver::Context&, u64 at, u64 bytes);  // managed memory all through, or InvalidValue
// CUmem_range_attribute; `size` bytes at `data`.
driver::Error range_attribute(driver::Context&, int attribute, void* data, u64 size, u64 at, u64 bytes);

}  // namespace us::cuda
