// SPDX-License-Identifier: Apache-2.0
// What codegen hands to the device: the code of one kernel variant; and the tables that this code calls through.
#pragma once
#include <functional>
#include <string>

#include "device/abi/abi.h"

namespace us::device {

// Owned by codegen; kept alive by the launch.
struct KernelCode {
  std::string name;                 // demangled for messages
  void (*run)(WarpCtx*) = nullptr;  // one warp from start to exit
  // All warps of one CTA from start to exit, barriers included; set instead of `run` (and `yields` is false then).
  // `*current` names the warp that runs, for faults.
  using RunCta = void (*)(WarpCtx* const* warps, WarpCtx** current);
  RunCta run_cta = nullptr;
  bool yields = false;       // needs a fibre
  bool triggers = false;     // has griddepcontrol.launch_dependents
  bool shares = false;       // all CTAs that fit on the device take turns, loop by loop
  u32 local_bytes = 0;       // per thread, all frames that are known statically
  u32 local_dynamic = 1024;  // per thread, for the .local frames of recursive and indirect calls
  // Source line of a code address, for faults and deadlock reports ("file.cu:12"); empty if unknown.
  std::function<std::string(const void* pc)> line_of;
  virtual ~KernelCode() = default;
};

const RtFunction* rt_table();    // by RtFn
const NumFunction* num_table();  // by NumFn

}  // namespace us::device
