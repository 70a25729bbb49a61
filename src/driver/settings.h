// SPDX-License-Identifier: Apache-2.0
// What the person who runs the program chose. cuda/ reads it from the environment; nothing below knows where it came
// from.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "codegen/jit.h"
#include "device/gpu.h"
#include "driver/device_spec.h"

namespace us::probe {
class Observer;
}
namespace us::trace {
class Recorder;
}
namespace us::probe {
class Observer;
}

namespace us::driver {

class Counts;  // code/counts.h
class Function;
enum class CaptureMode : int;  // graph/capture.h
enum class FactSource : u8;    // code/resources.h

struct CompileNotices {                       // about kernels that take long to compile
  std::function<void(std::string_view)> say;  // empty: nothing is said
  bool watched = false;                       // by a person, at a terminal
  std::chrono::milliseconds patience{2000};
};

struct Settings {
  std::vector<DeviceSpec> devices{DeviceSpec{}};
  u32 workers = 0;  // worker threads per device, 0 = host cores
  bool deterministic = false;
  u32 seed = 0;  // of the order of blocks and warps; 0: the usual one
  AsyncChoice async;
  codegen::Options jit;
  u32 variants_per_kernel = 8;                   // shapes compiled specially before the generic code is used
  std::function<void(std::string_view)> report;  // a device fault, a module that does not load: text for the person
  CompileNotices compiling;                      // a kernel takes long to compile
  std::function<void(std::string_view)> unimplemented;  // a launch reached something that is missing: its name
  std::function<void(std::string_view)> refused;        // an image or a kernel was turned away: which, and why
  bool newer_ptx = true;  // where an image has machine code for the device, but PTX only of newer ones, that is run
  std::function<void(std::string_view image, u32 arch)> ran_newer_ptx;  // that happened
  // A kernel was compiled or came from the object cache: its name as people read it, what that took.
  std::function<void(const codegen::Compiled&, const std::string& kernel, std::chrono::nanoseconds)> compiled;
  std::string ptxas;  // the toolkit's assembler: a path, "none", or empty: where toolkits usually are
  std::function<void(const std::string& kernel, FactSource)>
      resources;  // registers and stack of a kernel are known, or estimated for good
  // What kernels ask that only the runtime API's headers know: names of errors, attributes, versions. The call's
  // result.
  std::function<u64(device::DeviceApi, u32 device, Function*, std::span<const u64> words)> device_query;
  // A kernel is on its way to the device: what its record tells. From threads of the program, or of the device for what
  // kernels launch.
  std::function<void(const device::Launch&)> launched;
  std::function<CaptureMode()> capture_mode;    // of the calling thread; empty = Global
  Counts* counts = nullptr;                     // of --count
  probe::Observer* observer = nullptr;          // is told of every launch; then one worker runs them, in one order
  bool apart = false;                           // allocations do not touch each other
  trace::Recorder* recorder = nullptr;          // of --trace and --stats
  std::function<void(std::string_view)> print;  // device printf; empty = stdout

  // The machine has one worker, and blocks and warps one order.
  bool one_order() const { return deterministic || seed != 0 || observer != nullptr; }
};

}  // namespace us::driver
