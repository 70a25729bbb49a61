// SPDX-License-Identifier: Apache-2.0
// What the calls for one kind of node do in both APIs. Api::locked(f) runs f(context) under the lock of all graphs and
// answers the call with its Error; make(context, Params&) → Error describes the node.
#pragma once
#include "cuda/graph/graphs.h"

namespace us::cuda {

template <class Api>
struct NodeCalls {
  template <class Params, class F>
  static auto add(const NodePosition& place, driver::NodeType type, F&& make) {
    return Api::locked([&](auto& context) {
      Params p;
      US_TRY(check_position(place, type));
      US_TRY(make(context, p));
      return add_node(place, type, std::move(p));
    });
  }
  template <class Params, class F>
  static auto set(CUgraphNode n, driver::NodeType type, F&& make) {
    return Api::locked([&](auto& context) {
      Params p;
      driver::GraphNode* node = nullptr;
      US_TRY(find_node(n, type, node));
      US_TRY(make(context, p));
      return set_node(n, type, std::move(p));
    });
  }
  template <class Params, class F>
  static auto set_exec(CUgraphExec x, CUgraphNode n, driver::NodeType type, F&& make) {
    return Api::locked([&](auto& context) {
      Params p;
      driver::GraphNode* node = nullptr;
      std::shared_ptr<driver::GraphExec> exec;
      US_TRY(find_exec(x, exec));
      US_TRY(find_node(n, type, node));
      US_TRY(make(context, p));
      return set_exec_node(x, n, type, std::move(p));
    });
  }
  template <class Params, class F>
  static auto get(CUgraphNode n, driver::NodeType type, F&& tell) {
    return Api::locked([&](auto&) {
      driver::GraphNode* node = nullptr;
      US_TRY(find_node(n, type, node));
      tell(*node->template as<Params>());
      return driver::Error::Success;
    });
  }
};

// A kernel's new parameters; its attributes stay. kernel_of(k) → Error describes it.
template <class F>
driver::Error replace_kernel(CUgraphNode n, driver::KernelOp& k, F&& kernel_of) {
  driver::GraphNode* node = nullptr;
  US_TRY(find_node(n, driver::NodeType::Kernel, node));
  US_TRY(kernel_of(k));
  k.keep_attributes(*node->as<driver::KernelOp>());
  return driver::Error::Success;
}

}  // namespace us::cuda
