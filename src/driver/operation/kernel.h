// SPDX-License-Identifier: Apache-2.0
// A kernel with a grid and arguments. check() judges it and takes the arguments; compile() gets its code; launch() is
// what the device is given.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "driver/code/launch.h"
#include "driver/operation/node_type.h"
#include "driver/operation/spans.h"

namespace us::driver {

class GraphRun;
class UpdatableNode;

struct KernelOp {
  static constexpr NodeType kType = NodeType::Kernel;
  Function* function = nullptr;
  LaunchConfig config = {};
  std::optional<LaunchArgs> arguments = LaunchArgs{};  // the program's: until check() has read them
  const void* handle = nullptr;                        // as the program named it: a host stub, a kernel or a function
  ContextRef where = {};
  ParamBlock block = {};
  std::map<int, AttributeBytes> attributes = {};  // those that were set
  device::Dim3 cluster{1, 1, 1};
  std::shared_ptr<const codegen::Compiled> code = {};
  bool packed = false;  // the arguments were given as one block
  u64 packed_bytes = 0;
  std::vector<void*> pointers = {};  // into the block, for the program to read
  std::shared_ptr<UpdatableNode> updatable = {};

  Error check(Context&);
  // Judged again, as what the program sets on functions may have changed. What does not compile is reported.
  Error prepare(bool dependent);
  Error compile(bool dependent);  // dependent: griddepcontrol.wait has something to wait for
  codegen::Variant variant(bool dependent) const;

  struct Where {
    u32 depth = 0;                       // how many grids are above it
    std::shared_ptr<GraphRun> run = {};  // of the graph that it belongs to, if its kernels may launch graphs
    u64 graph = 0;                       // that graph's handle in kernels
    const Stream* stream = nullptr;
  };
  std::unique_ptr<device::Launch> launch(const Where&, ParamBlock) const;
  NodeRef node(std::unique_ptr<device::Launch>) const;  // in the executor of its context
  SpanRef span(const Spans& s, const trace::Place& p, const device::Launch& l) const {
    return s.kernel(p, l, *function, l.record.domain);
  }

  // Attributes of a node survive when its parameters are set, and can be copied.
  void keep_attributes(const KernelOp& other) {
    attributes = other.attributes;
    updatable = other.updatable;
    config.cluster = other.config.cluster;
    config.cooperative = other.config.cooperative;
    config.priority = other.config.priority;
    config.has_priority = other.config.has_priority;
  }
};

UpdateResult difference(const KernelOp&, const KernelOp&);
void set_code(device::Launch&, std::shared_ptr<const codegen::Compiled>);

}  // namespace us::driver
