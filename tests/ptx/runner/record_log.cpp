// SPDX-License-Identifier: Apache-2.0
#include "runner/record_log.h"

#include <bit>

#include <fmt/format.h>

namespace ptx_test {

using namespace us;
using namespace us::probe;

void RecordLog::take(void* log, u32, const u64* begin, const u64* end) {
  static constexpr const char* kKinds[] = {"block",     "read",       "write", "atomic",
                                           "copy read", "copy write", "end",   "sync"};
  auto& me = *static_cast<RecordLog*>(log);
  Record r;
  while (begin < end) {
    begin = read_record(begin, r);
    if (r.code.kind == RecordCode::Kind::End) continue;
    const bool block = r.code.kind == RecordCode::Kind::Block;
    const u64 all = u64{r.code.bytes} * static_cast<u64>(std::popcount(r.lanes));
    using Kind = RecordCode::Kind;
    if (r.code.kind == Kind::Read || r.code.kind == Kind::Atomic) me.bytes_.at(r.site).read += all;
    if (r.code.kind == Kind::Write || r.code.kind == Kind::Atomic) me.bytes_.at(r.site).written += all;
    const std::string text = fmt::format("{}{}", me.place(r.site), kKinds[static_cast<int>(r.code.kind)]);
    for (u32 m = r.lanes; m; m &= m - 1) {
      const u32 l = static_cast<u32>(std::countr_zero(m));
      std::string line = text;
      const bool rows = static_cast<SyncOp>(r.code.bytes) == SyncOp::BulkRows;
      if (r.code.kind == Kind::Sync)
        line +=
            fmt::format(" {} {} {}", r.code.bytes, me.naming_(rows ? Space::Global : Space::Shared, r.first), r.second);
      else if (block)
        line += r.code.bytes ? fmt::format(" detour {}", r.code.bytes) : "";
      else
        line += fmt::format(" {} {} {}", static_cast<int>(r.code.space), r.code.bytes,
                            me.naming_(r.code.space, r.address(l)));
      me.lanes_[{r.cta, r.warp, l}].push_back(std::move(line));
    }
  }
}

}  // namespace ptx_test
