// SPDX-License-Identifier: Apache-2.0
// Calls of the runtime's functions (device/rt_functions.inc).
#pragma once
#include "codegen/llvm/values.h"

namespace us::codegen {

class RuntimeCalls : private Part {
 public:
  RuntimeCalls(FunctionState& s, Values& v) : Part(s), v_(v) {}

  // One call for the lanes of the mask.
  void call(device::RtFn, const std::vector<V>& args, const std::vector<u32>& bits, V* results,
            bool uniform_if_args = false);
  void end_launch(device::RtFn, Value* lanes, Value* args);
  Value* argument_rows();

 private:
  Values& v_;
  Value* args_ = nullptr;
  Value* results_ = nullptr;
};

}  // namespace us::codegen
