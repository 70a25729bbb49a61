// SPDX-License-Identifier: Apache-2.0
// The engine against the reference detector on random programs: the same bytes race, at the same event.
#include <gtest/gtest.h>

#include <random>

#include "sanitizer_engine/reference.h"
#include "sanitizer_engine/sim.h"

namespace us::sanitizer::test {
namespace {

constexpr u64 kBase = u64{1} << 40;
constexpr u32 kThreads = 40, kCtas = 2, kWarps = 2, kWords = 3, kPart = 512;

// Both detectors side by side. Bytes are named by their address, shared ones by {CTA, offset}.
class Both {
 public:
  Both(u32 seed, bool log)
      : random_(seed),
        log_(log),
        shape_{.ctas = kCtas, .threads = kThreads, .cluster = seed % 2 + 1, .barriers_only = seed % 4 == 2},
        sim_(shape_),
        reference_(threads(shape_)) {
    sim_.checker.on_conflict([this](const Conflict& k, Space space, u64 cta) {
      for (u64 b = k.address; b < k.address + std::min(k.bytes, 4u); b++)
        theirs_.insert(space == Space::Shared ? cta << 24 | b : b);
    });
  }
  std::string run(u32 events) {
    for (u32 i = 0; i < events; i++) {
      ours_.clear(), theirs_.clear(), text_.clear();
      event();
      if (log_) printf("%u: %s -> reference %zu engine %zu\n", i, text_.c_str(), ours_.size(), theirs_.size());
      for (const u64 b : known_) ours_.erase(b), theirs_.erase(b);
      if (ours_ != theirs_) return "event " + std::to_string(i) + ": " + text_;
      known_.insert(ours_.begin(), ours_.end());
    }
    return "";
  }
  std::size_t races() const { return known_.size(); }
  u64 settled() const { return sim_.quick_settled; }
  u64 in_place() const { return sim_.in_place_; }

 private:
  static std::vector<reference::Thread> threads(const Shape& s) {
    std::vector<reference::Thread> all;
    for (u32 c = 0; c < kCtas; c++) {
      for (u32 t = 0; t < kThreads; t++) all.push_back({c * kThreads + t, c, c / s.cluster});
    }
    return all;
  }
  u32 pick(u32 n) { return static_cast<u32>(random_() % n); }
  u32 thread(u32 cta, u32 warp, u32 lane) const { return cta * kThreads + warp * 32 + lane; }
  std::vector<u32> all(u32 cta, u32 warp, u32 mask) const {
    std::vector<u32> t;
    for (u32 l = 0; l < 32; l++) {
      if (mask >> l & 1) t.push_back(thread(cta, warp, l));
    }
    return t;
  }
  u32 some(u32 cta, u32 warp) {
    const u32 masks[] = {1, 2, 4, 1, 2, 3, 7, 0x81, ~0u};
    return masks[pick(9)] & sim_.live(cta, warp);
  }
  void event();
  void access(u32 cta, u32 warp, Lanes l, u32 mask);
  void strong(u32 cta, u32 warp, u32 mask);
  void copies(u32 cta, u32 warp, u32 mask);
  void row_copies(u32 cta, u32 warp);
  void merge(const std::set<u64>& bad) { ours_.insert(bad.begin(), bad.end()); }
  void say(const std::string& what, u32 cta, u32 warp, u32 mask) {
    text_ =
        what + " by block " + std::to_string(cta) + " warp " + std::to_string(warp) + " lanes " + std::to_string(mask);
  }

  std::mt19937 random_;
  bool log_, calm_ = random_() % 2, apart_ = random_() % 2;
  Shape shape_;
  Sim sim_;
  reference::Detector reference_;
  std::set<u64> ours_, theirs_, known_;
  std::string text_;
};

void Both::access(u32 cta, u32 warp, Lanes l, u32 mask) {
  const bool shared = pick(2), writes = pick(2);
  const bool apart = apart_ && pick(4);  // in the part of a warp, mostly its own
  const u32 bytes = apart ? 4u << pick(3) : pick(4) ? 4 : 1u << pick(2);
  u64 stride = apart ? pick(4) ? bytes : pick(2) * 2 * bytes % 32 : pick(3) ? 0 : bytes;
  u64 address = apart ? kPart * (1 + (pick(8) ? warp : 1 - warp)) : pick(kWords) * 4, name = 0;
  if (bytes < 4) address += pick(4 / bytes) * bytes;
  if (apart && !shared && pick(8)) address += kPart * kWarps * cta;
  const bool peer = shared && shape_.cluster == 2 && cta == 0 && pick(3) == 0;
  if (shared) address += kShared, name = u64{peer ? 1 : cta} << 24 | address;
  if (!shared) name = address += kBase;
  if (peer) address += probe::kCtaStride;
  if (apart && stride == bytes && pick(4) == 0) address += 31 * bytes, name += 31 * bytes, stride = u64{0} - bytes;
  say(std::string(writes ? "store " : "load ") + (shared ? "shared " : "global ") + std::to_string(name & 0xffff) +
          " bytes " + std::to_string(bytes) + " stride " + std::to_string(static_cast<i64>(stride)),
      cta, warp, mask);
  for (u32 i = 0; i < 32; i++) {
    if (mask >> i & 1) merge(reference_.weak(thread(cta, warp, i), name + i * stride, bytes, writes));
  }
  const Space s = shared ? Space::Shared : Space::Global;
  writes ? l.store(s, address, bytes, stride) : l.load(s, address, bytes, stride);
}

void Both::strong(u32 cta, u32 warp, u32 mask) {
  // Few lanes: the engine keeps a limited number of unordered strong accesses of a word.
  if (std::popcount(mask) > 3) mask &= 7;
  Lanes l = sim_.lanes(warp, mask, cta);
  const u32 kind = pick(3), bytes = pick(5) ? 4 : 8;
  const Scope scopes[] = {Scope::Cta, Scope::Cluster, Scope::Gpu, Scope::Gpu};
  const Scope scope = scopes[pick(4)];
  const u64 address = (pick(4) ? 64 : 0) + kBase + pick(2) * 8;
  Order order = Order::Relaxed;
  if (pick(2)) order = kind == 0 ? Order::Acquire : kind == 1 ? Order::Release : Order::AcqRel;
  const char* names[] = {"strong load ", "strong store ", "atomic "};
  say(names[kind] + std::to_string(address & 0xffff) + " bytes " + std::to_string(bytes) + " order " +
          std::to_string(static_cast<int>(order)) + " scope " + std::to_string(static_cast<int>(scope)),
      cta, warp, mask);
  for (u32 i = 0; i < 32; i++) {
    if (mask >> i & 1)
      merge(reference_.strong(thread(cta, warp, i), address, bytes, kind != 1, kind != 0, order, scope));
  }
  if (kind == 0) l.load(Space::Global, address, bytes, 0, order, scope);
  if (kind == 1) l.store(Space::Global, address, bytes, 0, order, scope);
  if (kind == 2) l.atomic(Space::Global, address, order, scope, bytes);
}

// By all lanes of a warp.
void Both::row_copies(u32 cta, u32 warp) {
  Lanes l = sim_.lanes(warp, ~0u, cta);
  const u32 kind = pick(4), bytes = 4u << pick(3);
  const std::vector<u32> threads = all(cta, warp, ~0u);
  if (kind < 2) {
    const u64 from = kBase + (pick(2) ? kPart * (1 + pick(2)) : bytes * pick(3)),
              to = kShared + (pick(2) ? kPart * (1 + pick(2)) : bytes * pick(3));
    say("row of cp.async " + std::to_string(from & 0xffff) + " to " + std::to_string(to) + " bytes " +
            std::to_string(bytes),
        cta, warp, ~0u);
    for (u32 i = 0; i < 32; i++)
      merge(reference_.copy(threads[i], from + u64{i} * bytes, u64{cta} << 24 | (to + u64{i} * bytes), bytes));
    l.cp_async_row(to, from, bytes);
  } else if (kind == 2) {
    say("commit", cta, warp, ~0u);
    for (const u32 t : threads) reference_.commit(t);
    l.commit();
  } else {
    const u64 left = pick(2) ? ~u64{0} : pick(2);
    say("wait " + std::to_string(static_cast<i64>(left)), cta, warp, ~0u);
    for (const u32 t : threads) reference_.wait(t, left);
    l.wait_group(left);
  }
}

void Both::copies(u32 cta, u32 warp, u32 mask) {
  if (mask == ~0u) return row_copies(cta, warp);
  mask &= -mask;
  const u32 lane = static_cast<u32>(std::countr_zero(mask)), kind = pick(4), t = thread(cta, warp, lane);
  Lanes one = sim_.lanes(warp, mask, cta);
  if (kind < 2) {
    const u64 from = kBase + pick(kWords) * 4, to = kShared + pick(kWords) * 4;
    say("cp.async " + std::to_string(from & 0xffff) + " to " + std::to_string(to), cta, warp, mask);
    merge(reference_.copy(t, from, u64{cta} << 24 | to, 4));
    one.cp_async(to - lane * 4, from - lane * 4, 4);
  } else if (kind == 2) {
    say("commit", cta, warp, mask);
    reference_.commit(t);
    one.commit();
  } else {
    const u64 left = pick(2) ? ~u64{0} : pick(2);
    say("wait " + std::to_string(static_cast<i64>(left)), cta, warp, mask);
    reference_.wait(t, left);
    one.wait_group(left);
  }
}

void Both::event() {
  const u32 cta = pick(kCtas), warp = pick(kWarps), mask = some(cta, warp);
  u32 what = calm_ && pick(2) ? 15 + pick(5) : pick(20);  // calm: more that orders than that races
  Lanes l = sim_.lanes(warp, mask, cta);
  if (shape_.barriers_only && what >= 9 && what < 16) what %= 9;
  if (what < 9) {  // several: from the second on by their addresses alone
    for (u32 n = apart_ ? 1 + pick(4) : 1; n; n--) access(cta, warp, l, mask);
    return;
  }
  if (what < 13) return strong(cta, warp, mask);
  if (what < 15) return copies(cta, warp, mask);
  if (what < 16) {
    const Scope scope = pick(3) ? Scope::Gpu : pick(2) ? Scope::Cluster : Scope::Cta;
    const Order order = pick(4) ? Order::AcqRel : pick(2) ? Order::Acquire : Order::Release;
    say("fence", cta, warp, mask);
    reference_.fence(all(cta, warp, mask), order, scope);
    l.fence(order, scope);
  } else if (what < 18) {
    say("sync", cta, warp, mask);
    reference_.meet(all(cta, warp, mask), all(cta, warp, mask));
    l.sync();
  } else if (what < 19) {
    std::vector<u32> both = all(cta, 0, sim_.live(cta, 0)), one = all(cta, 1, sim_.live(cta, 1)), zero = both;
    both.insert(both.end(), one.begin(), one.end());
    const bool block = shape_.barriers_only || pick(2);
    say(block ? "barrier" : "named barrier", cta, 0, 0);
    reference_.meet(both, block ? both : zero);
    block ? sim_.barrier(cta) : sim_.named(1, {0}, {1}, cta);
  } else if (shape_.cluster == 2 && pick(3) == 0) {
    std::vector<u32> grid(kCtas * kThreads);
    for (u32 i = 0; i < grid.size(); i++) grid[i] = i;
    say("cluster barrier", 0, 0, 0);
    reference_.meet(grid, grid);
    sim_.cluster_sync();
  }
}

TEST(Random, AgreesWithReference) {
  const char* one = std::getenv("SEED");
  const u32 first = one ? static_cast<u32>(std::atoi(one)) : 1, programs = one ? 1 : 20000;
  u64 races = 0, silent = 0, settled = 0, in_place = 0;
  for (u32 seed = first; seed < first + programs; seed++) {
    Both b(seed, one != nullptr);
    const std::string difference = b.run(20 + seed % 41);
    ASSERT_EQ(difference, "") << "seed " << seed << " (SEED=" << seed << " shows the program)";
    races += b.races(), settled += b.settled(), in_place += b.in_place();
    silent += b.races() == 0;
  }
  std::printf(
      "%u programs from seed %u: %lu racing bytes, %lu programs without; %lu accesses were settled by their "
      "addresses, %lu of them in place\n",
      programs, first, races, silent, settled, in_place);
  EXPECT_TRUE(one || (settled > programs && in_place > 100));
}

}  // namespace
}  // namespace us::sanitizer::test
