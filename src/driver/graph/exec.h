// SPDX-License-Identifier: Apache-2.0
// An executable graph: a copy of the graph, checked and put into an order, kernels compiled. Each launch turns it into
// work of the executor:
//
//   stream's tail ─▶ first ─▶ nodes, along their edges; branches beside each other ─▶ last = the stream's new tail
//
// A conditional node is a piece of work that, when its turn comes, submits the nodes of its body and looks again.
#pragma once
#include <deque>
#include <mutex>

#include "driver/context.h"
#include "driver/graph/graph.h"
#include "driver/graph/run.h"

namespace us::driver {

enum class InstantiateResult : int {
  Success,
  Error,
  InvalidStructure,
  NodeOperationNotSupported,
  MultipleContexts,
  ConditionalHandleUnused
};
enum InstantiateFlag : u64 { kAutoFree = 1, kUpload = 2, kDeviceLaunch = 4, kUseNodePriority = 8 };

class GraphExec : public std::enable_shared_from_this<GraphExec> {
 public:
  struct Outcome {
    InstantiateResult result = InstantiateResult::Success;
    GraphNode* node = nullptr;  // of the graph
  };
  static Error make(Context&, Graph&, u64 flags, Outcome&, std::shared_ptr<GraphExec>& out);
  ~GraphExec();

  u64 shown_flags() const { return flags_ & (kAutoFree | kDeviceLaunch); }
  Error launch(Stream&);  // Graphs::mutex is held
  Error upload(Stream&);
  void retired();  // no longer the program's

  // Launches by kernels. One at a time: false while another runs, or waits for the tail of a run.
  bool device_launch() const { return flags_ & kDeviceLaunch; }
  bool uploaded() const { return uploaded_; }
  bool begin_run() { return !running_.exchange(true); }
  void end_run() { running_ = false; }
  bool begin_tail() { return !at_tail_.exchange(true); }
  void end_tail() { at_tail_ = false; }
  void launch_on_device(const std::shared_ptr<GraphRun>&);

  // The node here that was made from a node of the graph; null if there is none.
  GraphNode* find(const GraphNode& source);
  Error set(GraphNode& source, NodeParams);  // what may not change is InvalidValue
  Error set_enabled(const GraphNode& source, bool);
  Error get_enabled(const GraphNode& source, bool& out);
  Error set_child(const GraphNode& source, Graph&);

  struct Difference {
    UpdateResult result = UpdateResult::Success;
    GraphNode* node = nullptr;  // of the new graph
    GraphNode* from = nullptr;
  };
  Error update(Graph&, Difference&);

  // What a node that is being made must satisfy, and its compiled code.
  static Error prepare(Runtime&, GraphNode&);
  static Error prepare(Runtime&, KernelOp&, bool dependent);  // dependent: waits_for_kernel

 private:
  struct Step {                        // of a launch
    GraphNode* node = nullptr;         // null: only joins
    std::vector<u32> after;            // earlier steps; empty: the first ones
    const GraphEdge* early = nullptr;  // from the kernel beside which it may run, the step `primary`
    u32 primary = 0;
    bool tells_begun = false;  // that is such a kernel, and its blocks' beginning counts
    bool last = true;          // nothing here waits for its end
  };
  struct Plan {
    std::vector<Step> steps;
  };
  struct Turn;  // a conditional node that is under way

  GraphExec(Context& c, Graph& source, u64 flags);
  Error check(const Graph&, Outcome&, bool body) const;
  static Error order(Graph&, Plan&, std::span<const u32> before, std::vector<u32>& ends);
  static u32 order_early(Plan&, GraphNode*, const GraphEdge&, u32 primary);
  Error plan_bodies(Graph&);
  Error start_memory(Stream&, const NodeRef& last);
  using RunRef = std::shared_ptr<GraphRun>;  // null: the kernels may not launch graphs
  class Work;                                // of one node
  NodeRef kernel_work(const KernelOp&, const RunRef&);
  NodeRef updatable_work(const KernelOp&, const RunRef&);
  void start_updatable(const KernelOp&, const RunRef&, NodeRef);
  SpanRef span_of(const GraphNode&, const device::Launch*) const;
  void tell(Node&, const GraphNode&) const;  // of what it does, if somebody observes the process
  static bool submit_early(const Step&, const NodeRef&, std::span<const NodeRef> after, const NodeRef& primary);
  void submit(const Plan&, const NodeRef& first, const NodeRef& last, const RunRef&);
  NodeRef submit_run(const NodeRef& first, const RunRef&);
  void launch_run(const NodeRef& first, const NodeRef& last);
  void with_lock(Executor&, std::function<void()>);
  void take_turn(const std::shared_ptr<Turn>&);  // m_ is held, as in start_updatable
  static void write_updatable(const GraphNode&);
  static Error compare(Graph& mine, Graph& theirs, Difference&);
  static Error take(Graph& mine, Graph& theirs);
  void index(Graph&);
  void note_conditions();

  Graphs& all_;
  const ContextRef where_;
  const u64 flags_;
  const u64 number_;
  std::recursive_mutex m_;  // guards the members below
  std::unique_ptr<Graph> graph_;
  Plan plan_;
  std::unordered_map<const Graph*, Plan> bodies_;
  std::unordered_map<u64, GraphNode*> by_source_;
  std::vector<GraphNode*> allocs_, frees_;  // an address may be in both, more than once
  int priority_ = 0;                        // of the stream, during a launch
  trace::Place place_;                      // of the launch
  NodeRef before_;                          // the last launch: launches of one executable graph never overlap
  std::shared_ptr<u32> counted_;            // by the graph that this was made from
  std::vector<Condition*> conditions_;      // that a launch resets; changed by update()
  bool runs_ = false;                       // kernels here may launch graphs
  std::atomic<bool> uploaded_{false}, running_{false}, at_tail_{false};
};

}  // namespace us::driver
