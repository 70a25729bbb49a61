// SPDX-License-Identifier: Apache-2.0
#include "probe/reading.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

namespace us::probe {
namespace {

Diag wrong(const std::string& path, const char* what) {
  return {Diag::Kind::Error, {}, fmt::format("{}: {}", path, what)};
}

template <class Record>
Record as(const char* at) {
  Record r;
  std::memcpy(&r, at, sizeof r);
  return r;
}

void take(Recording& to, const Head& head, const char* at) {
  switch (head.kind) {
    case Kind::Unfinished:
      return;
    case Kind::Name: {
      const Name n = as<Name>(at);
      if (sizeof n + n.length > head.size) return;
      if (to.names.size() <= n.id) to.names.resize(n.id + 1);
      to.names[n.id].assign(at + sizeof n, n.length);
      return;
    }
    case Kind::Call:
      return to.calls.push_back(as<Call>(at));
    case Kind::Work:
      return to.work.push_back(as<Work>(at));
    case Kind::Graph:
      return to.graphs.push_back(as<Graph>(at));
  }
}

}  // namespace

Result<Recording> read_recording(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  FileHeader header;
  if (!in.read(reinterpret_cast<char*>(&header), sizeof header) || header.magic != kMagic)
    return wrong(path, "no recording");
  std::vector<char> bytes(std::min(header.next, header.available) - sizeof header);
  if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return wrong(path, "shorter than it says");
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
  return out;
}

}  // namespace us::probe
