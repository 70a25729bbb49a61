// SPDX-License-Identifier: Apache-2.0
// The attributes of launches, streams and kernel nodes: one union of values, by CUDA's number, in both APIs. What is
// taken where is what an H200's runtime was seen to take (oracle/programs/api_launch_attributes.txt).
#pragma once
#include <cuda.h>

#include "driver/device_spec.h"
#include "driver/graph/capture.h"
#include "driver/order/stream.h"

namespace us::cuda {

enum class AttributeOf : u8 { Launch, Stream, Node };

// May clamp the value. Rules that need the kernel are the launch's.
driver::Error check_attribute(const driver::DeviceSpec&, AttributeOf, int id, CUlaunchAttributeValue&);

driver::Error set_attribute(driver::Stream&, int id, const void* value);
driver::Error get_attribute(driver::Stream&, int id, void* value);

// An event that a launch records: when the grid's blocks have begun, or have triggered, or at its end.
struct LaunchEvent {
  const void* event = nullptr;
  bool external = false;
  driver::EdgeData edge;  // what a capture makes of it
  bool at_begin() const { return !external && edge.type == 0; }
};
using Events = std::vector<std::shared_ptr<driver::Event>>;
// Before the launch: can all of them be recorded? Those for when the blocks have begun are the launch's to record,
// unless it is captured. After it: the others.
driver::Error check_events(const std::vector<LaunchEvent>&, const void* stream, Events& begun);
driver::Error record_events(const std::vector<LaunchEvent>&, const void* stream);

}  // namespace us::cuda
