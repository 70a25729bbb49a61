// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "driver/operation/node_type.h"
#include "driver/operation/spans.h"
#include "driver/operation/told.h"

namespace us::driver {

// Device memory that a host function touches, of a library that computes on the host what a GPU would.
struct HostTouches {
  std::vector<probe::Range> reads, writes;
};

struct HostOp {
  static constexpr NodeType kType = NodeType::Host;
  void (*function)(void*) = nullptr;
  void* data = nullptr;
  std::shared_ptr<const HostTouches> touches = nullptr;  // or null: nothing is known
  bool operator==(const HostOp&) const = default;

  NodeRef node(Executor& e) const {
    NodeRef n = make_node(e, kType);
    n->work = [h = *this] { h.function(h.data); };
    return n;
  }
  SpanRef span(const Spans& s, const trace::Place& p) const { return s.other(p, trace::Work::What::Host); }
  std::unique_ptr<probe::Work> told(const Told& t) const {
    auto w = t.other("host function");
    if (touches) w->reads = touches->reads, w->writes = touches->writes;
    return w;
  }
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
