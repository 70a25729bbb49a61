// SPDX-License-Identifier: Apache-2.0
// The streams of a context in order: who runs after whom.
//
//   legacy default stream:  after its tail and after the tails of all blocking streams
//   blocking stream:        after its tail and after the tail of the legacy stream
//   non-blocking stream:    after its tail
#pragma once
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "driver/order/stream.h"

namespace us::driver {

class StreamOrder {
 public:
  StreamOrder(Executor& e, Stream& legacy) : executor_(e), legacy_(legacy) {}
  void add(Stream&);
  void remove(Stream&);  // its work goes on

  enum class Link : u8 { Behind, Record, Overlapping };  // Overlapping: a kernel that may run beside the one before it
  NodeRef append(Stream&, const NodeRef&, const NodeRef& also_after = {}, Link = Link::Behind);  // behind the tail
  // A kernel, and what is complete when all its blocks have begun and all before it in the stream is over.
  void append_kernel(Stream&, const NodeRef&, Link, std::span<const NodeRef> begun);
  // Two nodes with something between them: `first` goes behind the tail, `last` is the new tail and the caller's to
  // submit.
  void append_span(Stream&, const NodeRef& first, const NodeRef& last, const NodeRef& also_after);
  // On this thread, when the stream gets there; dropped when the context is broken.
  Error run(Stream&, const NodeRef&, const std::function<void()>& work);

  NodeRef end_of(Stream&);  // what is complete when the stream's work is; null: it never had any
  bool busy(Stream&) const;
  std::vector<NodeRef> tails() const;                        // of all streams, those still pending
  std::vector<NodeRef> tails_of(const GreenContext*) const;  // of its streams; null: of all but the legacy one
  void after_all(std::shared_ptr<void> last);                // let go of when what is queued now is done

 private:
  void predecessors(Stream&, const NodeRef& also_after, std::vector<NodeRef>&) const;  // m_ is held

  Executor& executor_;
  Stream& legacy_;
  mutable std::mutex m_;          // guards the members below, and the tails of streams
  std::vector<Stream*> streams_;  // all but the legacy one
  std::vector<NodeRef> orphans_;  // tails of streams that are gone
};

}  // namespace us::driver
