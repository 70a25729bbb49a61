// SPDX-License-Identifier: Apache-2.0
// Where a stream's next node goes while it captures, or what an event was recorded behind: the nodes before it, and how
// it depends on them. Captures (graph/capture.h) keeps it.
#pragma once
#include <memory>
#include <vector>

#include "base/types.h"

namespace us::driver {

struct Capture;
struct GraphNode;

struct EdgeData {                                                 // laid out as CUgraphEdgeData
  enum Port : u8 { kDefault, kProgrammatic, kLaunchCompletion };  // of a kernel: when the edge lets the next node go
  static constexpr u8 kProgrammaticType = 1;
  u8 from_port = 0, to_port = 0, type = 0, reserved[5] = {};
  bool plain() const { return from_port == 0 && to_port == 0 && type == 0; }
  bool operator==(const EdgeData&) const = default;
};

struct CapturePoint {
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> nodes;
  std::vector<EdgeData> edges;
  void add(GraphNode* n, const EdgeData& e) {
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i] == n && edges[i] == e) return;
    nodes.push_back(n);
    edges.push_back(e);
  }
  void set(GraphNode* n) {
    nodes.assign(1, n);
    edges.assign(1, {});
  }
};

}  // namespace us::driver
