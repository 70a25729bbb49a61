// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "driver/operation/node_type.h"
#include "driver/operation/spans.h"

namespace us::driver {

struct HostOp {
  static constexpr NodeType kType = NodeType::Host;
  void (*function)(void*) = nullptr;
  void* data = nullptr;
  bool operator==(const HostOp&) const = default;

  NodeRef node(Executor& e) const {
    NodeRef n = make_node(e, kType);
    n->work = [h = *this] { h.function(h.data); };
    return n;
  }
  SpanRef span(const Spans& s, const trace::Place& p) const { return s.other(p, trace::Work::What::Host); }
};

// cudaStreamAddCallback: runs even if the context is broken; captures cannot hold it.
struct CallbackOp {
  std::function<void()> function;

  NodeRef node(Executor& e) const {
    NodeRef n = make_node(e, NodeType::Host);
    n->always = true;
    n->work = function;
    return n;
  }
  SpanRef span(const Spans& s, const trace::Place& p) const { return s.other(p, trace::Work::What::Host); }
};

}  // namespace us::driver
