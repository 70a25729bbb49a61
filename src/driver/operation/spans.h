// SPDX-License-Identifier: Apache-2.0
// What a recorder, if there is one, is told about work. Each function is one test when there is none.
#pragma once
#include <memory>

#include "device/gpu.h"
#include "driver/memory/copy.h"
#include "trace/recorder.h"

namespace us::memory {
class Registry;
}

namespace us::driver {

class Function;
class Stream;

using SpanRef = std::unique_ptr<trace::Span>;

trace::Place place_of(const Stream&);

class Spans {
 public:
  Spans(trace::Recorder* r, const memory::Registry& m) : recorder_(r), registry_(m) {}
  explicit operator bool() const { return recorder_ != nullptr; }
  SpanRef kernel(const trace::Place&, const device::Launch&, const Function&, u32 domain) const;
  SpanRef copy(const trace::Place&, const Copy&) const;
  SpanRef fill(const trace::Place&, const Fill&) const;
  SpanRef other(const trace::Place&, trace::Work::What) const;
  SpanRef graph(const trace::Place&, u64 nodes) const;

 private:
  trace::Work::Side side(u64 address, bool array) const;
  trace::Recorder* const recorder_;
  const memory::Registry& registry_;
};

}  // namespace us::driver
