// SPDX-License-Identifier: Apache-2.0
#include "runner/event_log.h"

#include <bit>

#include <fmt/format.h>

namespace ptx_test {

using namespace us;
using namespace us::probe;

namespace {

constexpr const char* kSpaces[] = {"global", "shared", "local", "const", "param"};
constexpr const char* kOrders[] = {"", " volatile", " relaxed", " acquire", " release", " acq_rel", " sc"};
constexpr const char* kScopes[] = {"cta", "cluster", "gpu", "sys"};
const char* name(Space s) { return kSpaces[static_cast<int>(s)]; }
std::string name(Order o, Scope s) {
  return o == Order::Weak ? "" : fmt::format("{}.{}", kOrders[static_cast<int>(o)], kScopes[static_cast<int>(s)]);
}
std::string lanes_text(u32 mask) { return mask == ~0u ? "all" : fmt::format("{:x}", mask); }
std::string flag(bool on, const char* text) { return on ? std::string(" ") + text : std::string(); }

}  // namespace

void EventLog::tell(const Who& w, const std::string& text) {
  tell_lanes(w, text, [](u32) { return std::string(); });
}
template <class F>
void EventLog::tell_lanes(const Who& w, const std::string& text, F&& of_lane) {
  const std::string at = place(w.site);
  std::string all;
  for (u32 m = w.lanes; m; m &= m - 1) {
    const u32 l = static_cast<u32>(std::countr_zero(m));
    const std::string mine = of_lane(l);
    lanes_[{w.cta, w.warp, l}].push_back(fmt::format("{}{}{}", at, text, mine));
    if (all.empty()) all = mine;
  }
  lines_.push_back(fmt::format("{}/{} {}: {}{}{}", w.cta, w.warp, lanes_text(w.lanes), at, text, all));
}

void EventLog::cta_begins(const Who& w, u32 threads) { lines_.push_back(fmt::format("{} begins {}", w.cta, threads)); }
void EventLog::cta_ends(const Who& w) { lines_.push_back(fmt::format("{} ends", w.cta)); }
void EventLog::exits(const Who& w) { tell(w, "exits"); }

void EventLog::access(const Who& w, const Access& a) {
  static constexpr const char* kKinds[] = {"read", "write", "atomic"};
  const std::string text = fmt::format("{} {}{}{} {}x{}", kKinds[static_cast<int>(a.kind)], name(a.space),
                                       name(a.order, a.scope), flag(a.nc, "nc"), a.count, a.bytes);
  if (w.site < bytes_.size()) {
    Count& n = bytes_[w.site];
    const u64 all = u64{a.bytes} * a.count * static_cast<u64>(std::popcount(w.lanes));
    if (a.kind != Access::Kind::Write) n.read += all;
    if (a.kind != Access::Kind::Read) n.written += all;
  }
  tell_lanes(w, text, [&](u32 l) {
    std::string s = " " + naming_(a.space, a.address[l]);
    for (const u64* v : values ? a.values : std::span<const u64* const>{}) s += fmt::format(" {:x}", v[l]);
    if (!(a.wrote >> l & 1)) s += " not written";
    return s;
  });
}

void EventLog::fence(const Who& w, const Fence& f) {
  static constexpr const char* kKinds[] = {
      "memory", "proxy.async", "proxy.alias", "mbarrier_init", "tensormap.release", "tensormap.acquire", "wgmma"};
  tell_lanes(w,
             fmt::format("fence {}{} {}", kKinds[static_cast<int>(f.kind)], name(f.order, f.scope),
                         f.every_space ? "everywhere" : name(f.space)),
             [&](u32 l) { return f.address ? " " + naming_(Space::Global, f.address[l]) : std::string(); });
}

void EventLog::meeting(const Who& w, const Meeting& m) {
  static constexpr const char* kKinds[] = {"warp sync",    "barrier arrive", "barrier leave",
                                           "barrier done", "cluster arrive", "cluster leave",
                                           "grid wait",    "grid trigger",   "registers"};
  const std::string kind = kKinds[static_cast<int>(m.kind)];
  switch (m.kind) {
    case Meeting::Kind::WarpSync:
      return tell(w, fmt::format("{} {}", kind, lanes_text(m.members)));
    case Meeting::Kind::BarrierDone:
      return lines_.push_back(fmt::format("{} {} {} generation {}", w.cta, kind, m.id, m.generation));
    case Meeting::Kind::BarrierArrive:
      return tell(w, fmt::format("{} {} generation {} of {}{}{}", kind, m.id, m.generation, m.threads,
                                 flag(m.arrive_only, "only"), flag(m.aligned, "aligned")));
    case Meeting::Kind::BarrierLeave:
      return tell(w, fmt::format("{} {} generation {}", kind, m.id, m.generation));
    case Meeting::Kind::ClusterArrive:
    case Meeting::Kind::ClusterLeave:
      return tell(w, fmt::format("{} generation {}{}", kind, m.generation, flag(m.relaxed, "relaxed")));
    case Meeting::Kind::RegisterPool:
      return tell(w, fmt::format("{} {}{}", kind, m.threads, flag(m.arrive_only, "dec")));
    default:
      return tell(w, kind);
  }
}

void EventLog::mbarrier(const Who& w, const Mbarrier& m) {
  static constexpr const char* kKinds[] = {"init",        "inval", "arrive",       "expect_tx",
                                           "complete_tx", "test",  "copies arrive"};
  std::string s = fmt::format("mbarrier {} {}", kKinds[static_cast<int>(m.kind)], naming_(Space::Shared, m.address));
  if (m.kind == Mbarrier::Kind::Test)
    s += fmt::format("{} {} {:x}{}", name(m.order, m.scope), m.by_parity ? "parity" : "phase",
                     m.by_parity ? m.state : m.state >> 63,  // who came before is up to the order of warps
                     flag(m.done, "done"));
  else
    s += fmt::format("{} count {} tx {}{}{}{}{}", m.kind == Mbarrier::Kind::Arrive ? name(m.order, m.scope) : "",
                     m.count, m.tx, flag(m.drop, "drop"), flag(m.no_complete, "no_complete"), flag(m.remote, "remote"),
                     flag(m.noinc, "noinc"));
  // How often a lane asks in vain is up to its executor.
  if (m.kind == Mbarrier::Kind::Test && !m.done) return lines_.push_back(fmt::format("{}/{} {}", w.cta, w.warp, s));
  tell(w, s);
}

std::string EventLog::ranges(std::span<const Range> all) const {
  std::string s;
  for (const Range& r : all)
    s += fmt::format("{}{} {}+{}", s.empty() ? "" : ", ", name(r.space), naming_(r.space, r.begin), r.bytes);
  return s.empty() ? "nothing" : s;
}

void EventLog::transfer(const Who& w, const Transfer& t) {
  static constexpr const char* kKinds[] = {"cp.async", "bulk", "tensor", "st.async", "prefetch"};
  static constexpr const char* kEnds[] = {"group", "bulk group", "mbarrier", "none"};
  std::string s = fmt::format("copy {} {} to {}, {}", kKinds[static_cast<int>(t.kind)], ranges(t.from), ranges(t.to),
                              kEnds[static_cast<int>(t.completion)]);
  if (t.completion == Transfer::Completion::Mbarrier)
    s += fmt::format(" {} tx {}", naming_(Space::Shared, t.mbarrier), t.tx_bytes);
  s += flag(t.reduces, "reduces") + flag(t.multicast, "multicast");
  if (t.outside) s += fmt::format(" outside {}", t.outside);
  tell(w, s);
}

void EventLog::copies(const Who& w, const Copies& c) {
  static constexpr const char* kKinds[] = {"delivered", "committed", "waited", "exited"};
  const bool counts = c.kind == Copies::Kind::Committed || c.kind == Copies::Kind::Waited;
  tell(w, fmt::format("copies {}{}{}{}", kKinds[static_cast<int>(c.kind)], flag(c.bulk, "bulk"),
                      flag(c.read_only, "read"), counts ? fmt::format(" {}", static_cast<i64>(c.id)) : ""));
}

void EventLog::matrix(const Who& w, const Matrix& m) {
  static constexpr const char* kKinds[] = {"issue", "commit", "wait"};
  tell(w, fmt::format("wgmma {} {} left {}", kKinds[static_cast<int>(m.kind)], ranges(m.operands), m.left));
}

void EventLog::collective(const Who& w, const Collective& c) {
  static constexpr const char* kKinds[] = {"shuffle", "vote", "match", "redux", "elect", "activemask"};
  tell_lanes(w, fmt::format("{}{}", kKinds[static_cast<int>(c.kind)], flag(c.sync, "sync")), [&](u32 l) {
    std::string s;
    if (c.members) s += " " + lanes_text(static_cast<u32>(c.members[l]));
    if (c.source) s += fmt::format(" from {}", c.source[l]);
    return s;
  });
}

void EventLog::hint(const Who& w, const Hint& h) {
  static constexpr const char* kKinds[] = {"prefetch", "prefetchu", "prefetch tensormap", "applypriority",
                                           "discard",  "free",      "matrix row"};
  std::string s = fmt::format("{} {}", kKinds[static_cast<int>(h.kind)], name(h.space));
  if (h.level) s += fmt::format(" L{}", h.level);
  if (h.bytes) s += fmt::format(" {} bytes", h.bytes);
  tell_lanes(w, s, [&](u32 l) { return " " + naming_(h.space, h.address[l]); });
}

void EventLog::image(const Who& w, const Image& i) {
  static constexpr const char* kKinds[] = {"sample", "read", "write", "reduce"};
  tell(w, fmt::format("image {} {}", kKinds[static_cast<int>(i.kind)], ranges(i.touched)));
}

}  // namespace ptx_test
