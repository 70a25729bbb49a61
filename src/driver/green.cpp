// SPDX-License-Identifier: Apache-2.0
#include "driver/green.h"

#include "driver/context.h"
#include "driver/device.h"

namespace us::driver {

GreenContext::GreenContext(Device& d, std::shared_ptr<const SmSet> sms, u64 id)
    : device_(d), sms_(std::move(sms)), id_(id) {}

void GreenContext::open() {
  context_ = &device_.retain_primary();
  stream_ = &context_->create_stream(true, 0);
  stream_->set_green(shared_from_this());
}

void GreenContext::close() {
  if (!device_.primary_active()) return;  // reset meanwhile: both are gone
  context_->destroy_stream(stream_);
  device_.release_primary();
}

}  // namespace us::driver
