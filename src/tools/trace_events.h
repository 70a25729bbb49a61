// SPDX-License-Identifier: Apache-2.0
// A file of trace events, as Perfetto and chrome://tracing read them. Times are in nanoseconds.
#pragma once
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/json.h"

namespace us::tools {

class TraceEvents {
 public:
  explicit TraceEvents(u64 zero = 0) : zero_(zero) {}
  void event(std::string_view text) {
    out_ += out_.empty() ? "{\"traceEvents\": [\n" : ",\n";
    out_ += text;
  }
  void named(std::string_view what, u64 process, u64 track, std::string_view name) {
    event(fmt::format(R"({{"ph": "M", "name": "{}_name", "pid": {}, "tid": {}, "args": {{"name": {}}}}})", what,
                      process, track, quoted(name)));
  }
  void sorted(std::string_view what, u64 process, u64 track, u64 place) {
    event(fmt::format(R"({{"ph": "M", "name": "{}_sort_index", "pid": {}, "tid": {}, "args": {{"sort_index": {}}}}})",
                      what, process, track, place));
  }
  void span(std::string_view category, u64 process, u64 track, u64 begin, u64 end, std::string_view name,
            std::string_view arguments) {
    event(fmt::format(
        R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
        category, quoted(name), process, track, time(begin),
        fmt::format("{}.{:03}", (end - begin) / 1000, (end - begin) % 1000), arguments));
  }
  std::string time(u64 ns) const { return fmt::format("{}.{:03}", (ns - zero_) / 1000, (ns - zero_) % 1000); }
  static std::string quoted(std::string_view text) { return JsonWriter().value(text).text(); }
  std::string finish() {
    if (out_.empty()) return "{\"traceEvents\": [], \"displayTimeUnit\": \"ns\"}\n";
    return std::move(out_) + "\n],\n\"displayTimeUnit\": \"ns\"\n}\n";
  }

 private:
  const u64 zero_;
  std::string out_;
};

}  // namespace us::tools
