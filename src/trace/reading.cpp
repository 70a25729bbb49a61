// SPDX-License-Identifier: Apache-2.0
#include "trace/reading.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

namespace us::trace {
namespace {

Diag wrong(const std::string& path, const char* what) {
  return {Diag::Kind::Error, {}, fmt::format("{}: {}", path, what)};
}

constexpr u32 kMostNames = 1 << 18;

template <class Record>
Record as(const char* at) {
  Record r;
  std::memcpy(&r, at, sizeof r);
  return r;
}
template <class Record>
void take(std::vector<Record>& to, const Head& head, const char* at) {
  if (head.size >= sizeof(Record)) to.push_back(as<Record>(at));
}

std::string& name_at(Recording& r, u32 id) {
  if (r.names.size() <= id) r.names.resize(id + 1);
  return r.names[id];
}

// A thread may use a name that another one was still writing when the process ended.
template <class Record>
void complete_names(Recording& r, std::vector<Record>& records) {
  std::erase_if(records, [](const Record& c) { return c.name >= kMostNames; });
  for (const Record& c : records) name_at(r, c.name);
}

void take(Recording& to, const Head& head, const char* at) {
  switch (head.kind) {
    case Kind::Unfinished:
      return;
    case Kind::Name: {
      if (head.size < sizeof(Name)) return;
      const Name n = as<Name>(at);
      if (n.length > head.size - sizeof n || n.id >= kMostNames) return;
      name_at(to, n.id).assign(at + sizeof n, n.length);
      return;
    }
    case Kind::Call:
      return take(to.calls, head, at);
    case Kind::Work:
      return take(to.work, head, at);
    case Kind::Graph:
      return take(to.graphs, head, at);
    case Kind::Compile:
      return take(to.compiles, head, at);
  }
}

}  // namespace

Result<Recording> read_recording(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  FileHeader header;
  if (!in.read(reinterpret_cast<char*>(&header), sizeof header) || header.magic != kMagic)
    return wrong(path, "no recording");
  const u64 end = std::min(header.next, header.available);
  if (end < sizeof header) return wrong(path, "shorter than its own head");
  in.seekg(0, std::ios::end);
  if (static_cast<u64>(in.tellg()) < end) return wrong(path, "shorter than it says");
  in.seekg(sizeof header);
  std::vector<char> bytes(end - sizeof header);
  if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return wrong(path, "cannot be read");
  Recording out;
  out.process = header.process;
  out.dropped = header.dropped;
  out.names.resize(1);
  for (u64 at = 0; at + sizeof(Head) <= bytes.size();) {
    const Head head = as<Head>(bytes.data() + at);
    const u64 size = head.size;
    if (size >= sizeof(Head) && at + size <= bytes.size()) take(out, head, bytes.data() + at);
    at += std::max<u64>(size, sizeof(Head));  // size 0: claimed, never written
  }
  complete_names(out, out.calls);
  complete_names(out, out.work);
  complete_names(out, out.compiles);
  return out;
}

}  // namespace us::trace
