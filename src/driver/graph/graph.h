// SPDX-License-Identifier: Apache-2.0
// Graphs as the program builds them: nodes and edges. One table of all of them: a handle is looked up, never followed.
#pragma once
#include <map>
#include <mutex>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "driver/graph/capture.h"
#include "driver/graph/memory.h"
#include "driver/graph/node.h"

namespace us::driver {

class GraphExec;
class Graphs;

// An object of the program whose destructor runs when the last reference is gone; graphs hold references.
struct UserObject {
  void* object = nullptr;
  void (*destroy)(void*) = nullptr;
  u64 references = 0;
};

class Graph {
 public:
  explicit Graph(Graphs& all) : all_(all) {}
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Graphs& all() const { return all_; }
  std::span<const std::unique_ptr<GraphNode>> nodes() const { return nodes_; }
  std::vector<GraphEdge> edges_of_all() const;  // pairs: from, to

  Error check_dependencies(std::span<GraphNode* const> after, const EdgeData* edges, NodeType to) const;
  // Depends on `after`; the edges were found good.
  GraphNode& add(NodeType, NodeParams, std::span<GraphNode* const> after, const EdgeData* edges = nullptr);
  Error connect(GraphNode& from, GraphNode& to, const EdgeData&);
  Error disconnect(GraphNode& from, GraphNode& to, const EdgeData&);
  Error remove(GraphNode&);

  std::unique_ptr<Graph> clone() const;  // nodes remember what they were made from; nested graphs too
  GraphNode* find_clone_of(const GraphNode&) const;
  bool any(NodeType) const;  // nested graphs included
  bool updatable() const;    // kernels may change a kernel node of it
  void forget_updatable();   // of a copy: the kernels know the original
  bool copyable() const { return !any(NodeType::Conditional) && !any(NodeType::MemAlloc) && !any(NodeType::MemFree); }

  // User objects.
  void retain(UserObject&, u64 count);
  bool release(UserObject&, u64 count);

  bool nested = false;                                          // belongs to a node: not the program's to destroy
  bool body = false;                                            // of a conditional node
  u64 family = 0;                                               // one number for a graph and the bodies in it
  std::shared_ptr<u32> executables = std::make_shared<u32>(0);  // that exist of it

 private:
  friend class Graphs;
  Graphs& all_;
  std::vector<std::unique_ptr<GraphNode>> nodes_;  // in the order of creation
  std::map<UserObject*, u64> objects_;
};

class Graphs {
 public:
  explicit Graphs(Runtime& r) : captures(*this), memory(r), runtime_(r) {}
  ~Graphs();
  Runtime& runtime() const { return runtime_; }

  // Held around everything that reads or changes definitions, captures and user objects. Nothing waits under it.
  std::recursive_mutex& mutex() { return m_; }

  u64 next_executable() { return executables_made_++; }
  Graph& create();
  std::unique_ptr<Graph> create_nested();
  Graph& adopt(std::unique_ptr<Graph>);   // becomes the program's
  std::unique_ptr<Graph> disown(Graph&);  // and no longer
  Error destroy(Graph*);
  Graph* find_graph(const void* handle) const;
  GraphNode* find_node(const void* handle) const;
  std::shared_ptr<GraphExec> find_exec(const void* handle) const;
  GraphExec& add(std::shared_ptr<GraphExec>);
  Error destroy_exec(const void* handle);

  Error create_condition(Graph&, u32 initial, bool reset, u64& handle);
  Condition* find_condition(u64 handle) const;

  std::shared_ptr<UpdatableNode> make_updatable();
  std::shared_ptr<UpdatableNode> find_updatable(const void* handle) const;

  UserObject& create_object(void* object, void (*destroy)(void*), u64 references);
  UserObject* find_object(const void* handle) const;
  void release(UserObject&, u64 count);

  Captures captures;
  GraphMemory memory;

 private:
  friend class Graph;
  Runtime& runtime_;
  mutable std::recursive_mutex m_;  // guards all graphs, nodes, captures and user objects
  u64 next_id_ = 1, executables_made_ = 1;
  std::unordered_map<const void*, std::unique_ptr<Graph>> graphs_;  // the program's own
  std::unordered_map<const void*, Graph*> by_handle_;               // nested ones, too
  std::unordered_map<const void*, GraphNode*> nodes_;
  std::unordered_map<const void*, std::shared_ptr<GraphExec>> execs_;
  std::unordered_map<u64, std::unique_ptr<Condition>> conditions_;
  std::unordered_map<const void*, std::unique_ptr<UserObject>> objects_;
  std::unordered_map<const void*, std::weak_ptr<UpdatableNode>> updatable_;
};

}  // namespace us::driver
