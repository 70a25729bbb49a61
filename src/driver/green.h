// SPDX-License-Identifier: Apache-2.0
// A green context: the primary context of a device, seen through some of its multiprocessors. Kernels in its streams
// run on those only; memory, code and events are the primary context's.
#pragma once
#include <memory>
#include <vector>

#include "driver/device_spec.h"
#include "driver/error.h"

namespace us::driver {

class Context;
class Device;
class Event;
class Stream;

class GreenContext : public std::enable_shared_from_this<GreenContext> {
 public:
  GreenContext(Device&, std::shared_ptr<const SmSet>, u64 id);
  void open();   // holds the primary context; makes the default stream
  void close();  // lets go of both
  Device& device() const { return device_; }
  Context& context() const { return *context_; }
  u64 id() const { return id_; }
  const std::shared_ptr<const SmSet>& sms() const { return sms_; }
  Stream& default_stream() const { return *stream_; }

 private:
  Device& device_;
  const std::shared_ptr<const SmSet> sms_;
  const u64 id_;
  Context* context_ = nullptr;
  Stream* stream_ = nullptr;
};

}  // namespace us::driver
