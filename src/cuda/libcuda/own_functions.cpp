// SPDX-License-Identifier: Apache-2.0
#include "cuda/libcuda/own_functions.h"

#include <understudy.h>

#include <utility>

#include "cuda/state.h"
#include "driver/memory/virtual_memory.h"
#include "memory/compression.h"

namespace us::cuda {

const unsigned char kOwnTableId[16] = UNDERSTUDY_TABLE_ID;

namespace {

// The whole range can be read; tells whether all of it was created as compressible.
bool readable(u64 at, u64 bytes, bool& compressible) {
  driver::Runtime& r = runtime();
  if (bytes > ~at) return false;
  compressible = true;
  for (const u64 end = at + bytes; at < end;) {
    const auto a = r.registry().find(at);
    if (!a) return false;
    const bool mapped = a->kind == memory::Kind::Mapped;
    if (a->host() || (mapped && !(a->flags & 1))) return false;
    compressible &= mapped && r.virtual_memory().compressible(at);
    at = a->address + a->bytes;
  }
  return true;
}

int measure(unsigned long long address, size_t bytes, understudyCompression* out) {
  constexpr int kInvalidValue = 1;
  bool compressible = false;
  if (!out || !runtime_if_made() || !readable(address, bytes, compressible)) return kInvalidValue;
  const auto c = memory::measure_compression({reinterpret_cast<const u8*>(address), bytes});
  *out = {c.lines, c.by_factor[0], c.by_factor[1], c.by_factor[2], compressible};
  return 0;
}

thread_local std::shared_ptr<const driver::HostTouches> next_touches;

void touches(const understudyRange* ranges, size_t count) {
  auto t = std::make_shared<driver::HostTouches>();
  for (size_t k = 0; ranges && k < count; ++k)
    (ranges[k].writes ? t->writes : t->reads).push_back({probe::Space::Global, ranges[k].address, ranges[k].bytes});
  next_touches = std::move(t);
}

}  // namespace

driver::HostOp host_function(void (*f)(void*), void* data) { return {f, data, std::exchange(next_touches, nullptr)}; }

const void* own_functions() {
  static const understudyFunctions table = {sizeof(understudyFunctions), measure, touches};
  return &table;
}

}  // namespace us::cuda
