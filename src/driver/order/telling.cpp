// SPDX-License-Identifier: Apache-2.0
#include "driver/order/telling.h"

namespace us::driver {

using probe::Work;

void Telling::submitted(Node& n, std::span<const NodeRef> after, const NodeRef& overlaps) {
  Work w;
  if (n.told) w = std::move(*n.told);
  n.told.reset();
  w.kind = Work::Kind::Submitted;
  w.node = n.id;
  w.stream = n.stream;
  w.stamp = n.timed;
  w.graph = !n.in_stream && !after.empty();
  if (overlaps) w.overlaps = overlaps->id;
  for (const NodeRef& a : after)
    if (a && a->id) w.after.push_back(a->id);
  w.inner |= !n.in_stream && w.after.empty();  // not told: who began work of the device
  w.polls = n.kind == Node::Kind::Poll;
  observer_.work(w);
}

void Telling::tell(Work::Kind kind, const Node& n) {
  Work w;
  w.kind = kind;
  w.node = n.id;
  observer_.work(w);
}

void Telling::complete(const Node& n) { tell(Work::Kind::Complete, n); }

void Telling::waited(const Node& n) {
  if (n.id) tell(Work::Kind::Waited, n);
}

void Telling::begins(const Node& n) {
  if (n.id) tell(Work::Kind::Begins, n);
}

void Telling::values(Work::Kind kind, const Node& n, std::vector<Work::Value> values) {
  if (!n.id) return;
  Work w;
  w.kind = kind;
  w.node = n.id;
  w.values = std::move(values);
  observer_.work(w);
}

}  // namespace us::driver
