// SPDX-License-Identifier: Apache-2.0
// Streams that capture: what would be appended to the stream becomes a node of a graph, behind the stream's
// dependencies:
//
//   begin(origin) ── work ── record(event) ──▶ event carries them ── wait(other) ──▶ other joins the capture
//
// A call that the capture does not allow makes it invalid; it then refuses all work, until the origin ends it.
#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "driver/graph/node.h"
#include "driver/order/capture_point.h"

namespace us::driver {

class Context;
class Event;
class Graphs;
class Stream;

enum class CaptureMode : int { Global, ThreadLocal, Relaxed };  // cudaStreamCaptureMode

struct Capture {
  u64 id = 0;
  CaptureMode mode = CaptureMode::Global;
  std::thread::id thread;
  Context* context = nullptr;
  Stream* origin = nullptr;
  Graph* graph = nullptr;
  bool own_graph = true;  // made by the capture, not named by the program
  bool invalid = false, ended = false;
  std::vector<Stream*> streams;  // the origin and those that joined
  std::vector<GraphNode*> left;  // the last nodes of those that were destroyed
};

class Captures {
 public:
  explicit Captures(Graphs& g) : graphs_(g) {}

  // True if some stream of the process captures: the only cost for programs that never do.
  bool any() const { return active_.load(std::memory_order_relaxed) != 0; }

  Error begin(Stream&, CaptureMode, Graph* into, std::span<GraphNode* const> after, const EdgeData* edges);
  Error end(Stream&, Graph*& out);  // out: null unless the capture was good
  Error update(Stream&, std::span<GraphNode* const>, const EdgeData*, bool replace);

  // What calls ask before they do anything; Success when nothing forbids it. The captures in the way become invalid.
  Error unsafe();                       // a call that may synchronise
  Error use_legacy(Context&);           // work in the legacy stream, which would wait for capturing streams
  Error see_legacy(Context&);           // the same, and the captures stay as they are
  Error synchronize_context(Context&);  // cudaDeviceSynchronize
  Error synchronize_stream(Stream&);    // also queries
  Error synchronize_event(const Event&);
  Error elapsed(const Event&);

  // Work in a stream: does the stream capture it? Another thread may end the capture between the two calls: add() asks
  // again.
  Error admit(Stream&, bool& captured);
  Error refuse(Stream&, Error because);  // in a capturing stream: it becomes invalid
  Error add(Stream&, NodeParams, bool& captured, bool programmatic = false);

  Error record(Event&, Stream&, bool& captured);
  Error wait(Stream&, Event&, bool external, bool& captured);
  void set_edges(Event&, const EdgeData&);  // if it was recorded in a capture: how what waits for it depends
  void forget(Stream&);                     // the stream is being destroyed
  void forget(Graph&);

 private:
  CaptureMode thread_mode() const;
  Error point_of(Stream&, CapturePoint*&);  // null: it does not capture; the lock is held
  void invalidate(Capture&);
  void leave(Capture&);
  Graphs& graphs_;
  std::atomic<u32> active_{0};
  u64 next_id_ = 1;
  std::vector<std::shared_ptr<Capture>> all_;
};

}  // namespace us::driver
