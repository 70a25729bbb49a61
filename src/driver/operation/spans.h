// SPDX-License-Identifier: Apache-2.0
// What a recorder, if there is one, is told about work. Each function is one test when there is none.
#pragma once
#include <memory>

#include "device/gpu.h"
#include "driver/memory/copy.h"
#include "probe/recorder.h"

namespace us::memory {
class Registry;
}

namespace us::driver {

class Function;
class Stream;

using SpanRef = std::unique_ptr<probe::Span>;

probe::Place place_of(const Stream&);

class Spans {
 public:
  Spans(probe::Recorder* r, const memory::Registry& m) : recorder_(r), registry_(m) {}
  explicit operator bool() const { return recorder_ != nullptr; }
  SpanRef kernel(const probe::Place&, const device::Launch&, const Function&, u32 domain) const;
  SpanRef copy(const probe::Place&, const Copy&) const;
  SpanRef fill(const probe::Place&, const Fill&) const;
  SpanRef other(const probe::Place&, probe::Work::What) const;
  SpanRef graph(const probe::Place&, u64 nodes) const;

 private:
  probe::Work::Side side(u64 address, bool array) const;
  probe::Recorder* const recorder_;
  const memory::Registry& registry_;
};

}  // namespace us::driver
