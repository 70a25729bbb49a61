// SPDX-License-Identifier: Apache-2.0
// One operation for streams and graphs: the same rules, and a node of the kind that the table names.
#include <gtest/gtest.h>

#include "driver/graph/exec.h"
#include "fake_jit.h"

namespace us::driver {
namespace {

using test::Bench;
using test::define_kernel;

struct Operations : testing::Test {
  static const char* nothing() {
    define_kernel("nothing", [](device::WarpCtx&, u32) {});
    return "nothing";
  }
  u64 take(u64 bytes) {
    u64 at = 0;
    EXPECT_EQ(c.allocate(bytes, memory::Kind::Device, 0, at), Error::Success);
    return at;
  }
  Error captured(Operation op) {
    Graph* g = nullptr;
    EXPECT_EQ(b.runtime.captures().begin(s, CaptureMode::Relaxed, nullptr, {}, nullptr), Error::Success);
    const Error e = c.submit(std::move(op), s);
    EXPECT_EQ(b.runtime.captures().end(s, g), Error::Success);
    std::lock_guard l(b.runtime.graphs().mutex());
    nodes = g->nodes().size();
    if (nodes) type = g->nodes().front()->type;
    b.runtime.graphs().destroy(g);
    return e;
  }
  Bench b{nothing()};
  Context& c = b.context;
  Stream& s = c.create_stream(true, 0);
  std::size_t nodes = 0;
  NodeType type = NodeType::Empty;
};

TEST_F(Operations, CopiesObeyTheSameRulesInStreamsAndGraphs) {
  const u64 d = take(1 << 12);
  u8 host[16] = {};
  const u64 h = reinterpret_cast<u64>(host);
  const CopyOp copies[] = {{{.dst = d, .src = h, .width = 16}, CopyKind::HostToDevice},
                           {{.dst = d, .src = h, .width = 16}, CopyKind::DeviceToDevice},
                           {{.dst = h, .src = h, .width = 16}, CopyKind::HostToDevice},
                           {{.dst = d + 4090, .src = h, .width = 16}, CopyKind::HostToDevice},
                           {{.dst = 0, .src = h, .width = 16}, CopyKind::Default}};
  for (const CopyOp& copy : copies) {
    CopyOp by_hand = copy;
    const Error e = c.submit(copy, s);
    EXPECT_EQ(captured(copy), e);
    EXPECT_EQ(nodes, failed(e) ? 0u : 1u);
    EXPECT_EQ(by_hand.check(c), e);
    EXPECT_EQ(e, &copy == copies ? Error::Success : Error::InvalidValue);
  }
}

TEST_F(Operations, SetsObeyTheSameRulesInStreamsAndGraphs) {
  const u64 d = take(1 << 12);
  const FillOp sets[] = {{{.dst = d, .width = 16}},
                         {{.dst = d + 1, .width = 4, .element = 4}},
                         {{.dst = d, .width = 4097}},
                         {{.dst = 0, .width = 16}}};
  for (const FillOp& set : sets) {
    const Error e = c.submit(set, s);
    EXPECT_EQ(captured(set), e);
    EXPECT_EQ(e, &set == sets ? Error::Success : Error::InvalidValue);
  }
}

TEST_F(Operations, OfNoBytesIsNeitherWorkNorANode) {
  EXPECT_EQ(c.submit(CopyOp{{.dst = 0, .src = 0}}, s), Error::Success);
  EXPECT_EQ(captured(CopyOp{{.dst = 0, .src = 0}}), Error::Success);
  EXPECT_EQ(nodes, 0u);
}

TEST_F(Operations, BecomeTheNodesThatTheTableNames) {
  const u64 d = take(16);
  KernelOp k{.function = b.function, .config = {.grid = {1, 1, 1}, .block = {1, 1, 1}}};
  EXPECT_EQ(captured(k), Error::Success);
  EXPECT_EQ(type, NodeType::Kernel);
  EXPECT_EQ(captured(FillOp{{.dst = d, .width = 16}}), Error::Success);
  EXPECT_EQ(type, NodeType::Memset);
  EXPECT_EQ(captured(HostOp{[](void*) {}, nullptr}), Error::Success);
  EXPECT_EQ(type, NodeType::Host);
  EXPECT_EQ((HostOp{[](void*) {}, nullptr}.node(c.executor())->kind), facts_of(NodeType::Host).kind);
  FillOp set{{.dst = d, .width = 16}};
  ASSERT_EQ(set.check(c), Error::Success);
  EXPECT_EQ(set.node(c.executor())->kind, facts_of(NodeType::Memset).kind);
  EXPECT_EQ(static_cast<int>(NodeType::Conditional), 13);  // CU_GRAPH_NODE_TYPE_CONDITIONAL
}

TEST_F(Operations, ThatAProgramWaitsForAreTheCallersOwn) {
  const u64 d = take(1 << 12);
  std::vector<u8> host(1 << 12);
  CopyOp up{{.dst = d, .src = reinterpret_cast<u64>(host.data()), .width = host.size()}, CopyKind::HostToDevice};
  ASSERT_EQ(up.check(c), Error::Success);
  EXPECT_EQ(up.node(c.executor(), false)->kind, Node::Kind::Caller);
  EXPECT_EQ(up.node(c.executor(), true)->kind, Node::Kind::Work);  // small enough to be read at once
}

}  // namespace
}  // namespace us::driver
