// SPDX-License-Identifier: Apache-2.0
#include "cuda/graph/dot.h"

#include <fmt/format.h>

#include <cstdio>

namespace us::cuda {

using namespace driver;

namespace {

enum Flag : unsigned { kVerbose = 1, kKernelParams = 4, kHandles = 1 << 10 };  // CUgraphDebugDot_flags

const char* name_of(NodeType t) {
  static constexpr const char* kNames[] = {"kernel",
                                           "memcpy",
                                           "memset",
                                           "host",
                                           "graph",
                                           "empty",
                                           "wait event",
                                           "record event",
                                           "semaphore signal",
                                           "semaphore wait",
                                           "memory allocation",
                                           "memory free",
                                           "memory operations",
                                           "conditional"};
  return kNames[static_cast<int>(t)];
}

class Writer {
 public:
  explicit Writer(unsigned flags) : flags_(flags) {}
  void graph(const Graph& g, int depth) {
    const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
    for (const auto& n : g.nodes()) {
      text_ += fmt::format("{}n{} [shape=box, label=\"{}\"];\n", indent, n->id, label(*n));
      if (const auto* c = n->as<ChildParams>()) nested(*c->graph, *n, "graph", depth);
      if (const auto* c = n->as<ConditionalParams>())
        for (std::size_t i = 0; i < c->bodies.size(); ++i) nested(*c->bodies[i], *n, fmt::format("body {}", i), depth);
    }
    for (const auto& n : g.nodes())
      for (const GraphEdge& e : n->out)
        text_ += fmt::format("{}n{} -> n{}{};\n", indent, n->id, e.other->id, e.data.plain() ? "" : " [style=dashed]");
  }
  const std::string& text() const { return text_; }

 private:
  void nested(const Graph& g, const GraphNode& owner, const std::string& title, int depth) {
    const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
    text_ += fmt::format("{}subgraph cluster_{}_{} {{\n{}  label=\"{} of node {}\";\n", indent, owner.id, clusters_++,
                         indent, title, owner.id);
    graph(g, depth + 1);
    text_ += indent + "}\n";
  }
  std::string label(const GraphNode& n) const {
    std::string s = fmt::format("{} {}", n.id, name_of(n.type));
    if (flags_ & (kVerbose | kHandles)) s += fmt::format("\\n{}", static_cast<const void*>(&n));
    if (const auto* k = n.as<KernelOp>()) {
      s += "\\n" + k->function->name();
      const auto &g = k->config.grid, &b = k->config.block;
      if (flags_ & (kVerbose | kKernelParams))
        s += fmt::format("\\n<<<({},{},{}), ({},{},{}), {}>>>", g.x, g.y, g.z, b.x, b.y, b.z, k->config.dynamic_shared);
    }
    if (const auto* c = n.as<CopyOp>()) {
      const CopyNames names = c->shown();
      s += fmt::format("\\n{} x {} x {} bytes", names.width, names.height, names.depth);
    }
    if (const auto* f = n.as<FillOp>())
      s += fmt::format("\\n{} x {} of {} bytes", f->given.width, f->given.height, f->given.element);
    return s;
  }

  const unsigned flags_;
  std::string text_;
  u32 clusters_ = 0;
};

}  // namespace

bool write_dot(const Graph& g, const char* path, unsigned flags) {
  Writer w(flags);
  w.graph(g, 1);
  std::FILE* f = std::fopen(path, "w");
  if (!f) return false;
  const bool good = std::fprintf(f, "digraph cuda {\n%s}\n", w.text().c_str()) > 0;
  return std::fclose(f) == 0 && good;
}

}  // namespace us::cuda
