// SPDX-License-Identifier: Apache-2.0
#include "timing/launch_time.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/parallel.h"
#include "timing/lines.h"
#include "timing/what_if.h"

namespace us::timing {
namespace {

constexpr u64 kMostSmall = 16;      // CTAs that are replayed of a grid that has fewer than there are multiprocessors
constexpr u64 kLeastL1 = 8192;      // bytes
constexpr double kMostLost = 0.02;  // of the warps
constexpr u64 kMostSearched = 500'000;   // steps of paths that are looked up, to count and to replay each
constexpr std::size_t kMostTold = 4096;  // warps, with their times
constexpr u64 kRounds = 6;               // of CTAs that fill a multiprocessor
constexpr double kStart = 1000;          // cycles in which CTAs start, however much they do
constexpr double kAsMuch = 1.02;         // times the work of another multiprocessor

// Of costs: what is on the way counts only where nothing else does, and the nearest of it.
float sum(float a, float b) {
  if (a > 0 || b > 0) return std::max(a, 0.0f) + std::max(b, 0.0f);
  return a == 0 || b == 0 ? std::min(a, b) : std::max(a, b);
}

u64 product(const u32 (&n)[3]) { return u64{n[0]} * n[1] * n[2]; }

}  // namespace

LaunchTime::LaunchTime(std::shared_ptr<KernelCode> code, const LaunchProfile& p, std::shared_ptr<Footprint> l2,
                       Footprint::Memory memory)
    : parameters_(parameters_of(p.residency.device)),
      code_(std::move(code)),
      warps_(static_cast<u32>((product(p.block) + 31) / 32)),
      sms_(std::max(1u, p.residency.cluster_sms)),
      resident_(std::max(1u, p.residency.blocks)),
      ctas_(product(p.grid)),
      l2_is_kept_(l2 != nullptr),
      l2_(l2 ? std::move(l2) : std::make_shared<Footprint>(parameters_)),
      footprint_(*l2_),
      of_stores_(parameters_),
      of_atomics_(parameters_),
      of_again_(parameters_),
      stores_(parameters_, false),
      hand_overs_(parameters_, sms_, resident_, ctas_),
      traces_(*code_->image->program, warps_, [this](u32 cta) { return wanted(cta); }) {
  footprint_.begin(u64{sms_} * resident_, std::move(memory));
  most_per_sm_ = std::max<u64>(kRounds * resident_, 16);
  if (ctas_ <= sms_) step_ = (ctas_ + kMostSmall - 1) / kMostSmall | 1;
  for (std::size_t k = 0; k < code_->timed.sites.size(); ++k) {
    const u32 site = code_->timed.sites[k];
    if (site == probe::kNoSite) continue;
    if (slot_of_site_.size() <= site) {
      slot_of_site_.resize(site + 1, ~0u);
      floats_.resize(site + 1), swaps_.resize(site + 1), joined_.resize(site + 1), tells_.resize(site + 1);
    }
    const Row& r = code_->timed.rows[k];
    looks_ = looks_ || (r.kind == Row::Kind::Load && r.bypass);
    if ((r.kind == Row::Kind::Store && r.bypass) || r.kind == Row::Kind::Reduction) tells_[site] = Tells::Others;
    if (r.kind == Row::Kind::Atomic) tells_[site] = Tells::Both;
    floats_[site] = floats_[site] || code_->timed.rows[k].floats;
    swaps_[site] = swaps_[site] || code_->timed.rows[k].swaps;
    joined_[site] = joined_[site] || code_->timed.rows[k].joined;
  }
}

// That of the last CTA, too: it may finish what all have begun.
bool LaunchTime::wanted(u32 cta) const { return (chosen(cta) || with_the_last(cta)) && cta / sms_ < most_per_sm_; }

// CTAs with even and with odd numbers often do different things.
bool LaunchTime::chosen(u32 cta) const {
  const u64 sm = cta % sms_;
  return ctas_ <= sms_ ? sm % step_ == 0 : sm == 0 || sm == (sms_ / 2 | 1);
}

bool LaunchTime::with_the_last(u32 cta) const { return cta % sms_ == (ctas_ - 1) % sms_; }

// Then its multiprocessor is replayed instead of another one.
bool LaunchTime::last_is_special() const {
  if (hand_overs_.any()) return true;
  constexpr float kMore = 1.5f;
  float last = 0, all = 0, count = 0;
  for (const CtaWork& w : traces_.work(instructions_)) {
    all += w.most, ++count;
    if (w.cta + 1 == ctas_) last = w.most;
  }
  return last * count > kMore * all;
}

void LaunchTime::add(const probe::Record& r, const u64* begin, const u64* end, const Lines* lines) {
  using Kind = probe::RecordCode::Kind;
  if (r.code.kind == Kind::CopyWrite && r.lanes) return;  // of the same instruction as the CopyRead before it
  float cost = 0;
  u32 event = 0;
  behind_ = false;
  if (r.code.kind == Kind::Sync) {
    if (r.lanes && static_cast<probe::SyncOp>(r.code.bytes) == probe::SyncOp::BulkRows) ask(r.cta, cost = bring(r));
  } else {
    if (r.lanes && r.code.space == probe::Space::Global)
      cost = r.code.kind == Kind::Atomic ? touch_atomic(r) : touch(r, lines);
    if (r.code.kind != Kind::Write) ask(r.cta, cost);
    if (looks_) event = hand_over(r);
    if (!r.code.looks && !traces_.hears(r.cta)) return;
  }
  traces_.add(r, begin, end, {cost, behind_, event});
}

// Its number among those by which CTAs wait for each other; 0: it is none.
u32 LaunchTime::hand_over(const probe::Record& r) {
  if (!r.lanes || r.code.space != probe::Space::Global) return 0;
  const bool writes = r.code.kind != probe::RecordCode::Kind::Read;
  const Tells tells = writes && r.site < tells_.size() ? tells_[r.site] : Tells::Nothing;
  if (tells == Tells::Nothing && !r.code.looks) return 0;
  return hand_overs_.add(r, r.code.looks, !writes || tells == Tells::Both, traces_.again(r));
}

// An access lacks so many sectors in L2.
void LaunchTime::ask(u32 cta, float sectors) {
  if (sectors <= 0) return;
  asked_ += sectors;
  if (wanted(cta)) asked_of_[cta] += sectors;
}

void LaunchTime::store(const Lines::Line& l, bool narrow) {
  footprint_.write(l.line, l.bytes);
  const StoreBuffer::Stored one = stores_.add(l, narrow);
  of_stores_.add(l.line, one.cost.cycles);
  if (one.again) of_again_.add(l.line, one.cost.cycles);
  stored_ += l.bytes[0] + l.bytes[1] + l.bytes[2] + l.bytes[3];
}

Footprint::Reader LaunchTime::reader(const probe::Record& r) { return {r.cta, static_cast<u32>(traces_.progress(r))}; }

float LaunchTime::touch_line(const probe::Record& r, const Lines::Line& l, bool write, Footprint::As as) {
  if (write) return store(l, r.code.bytes < 4), 0.0f;
  const float cost = footprint_.read(l.line, l.sectors, reader(r), as);
  behind_ = behind_ || footprint_.behind_a_store();
  return cost;
}

// What an access costs: TimedAccess.
float LaunchTime::touch(const probe::Record& r, const Lines* lines) {
  const bool write = r.code.kind == probe::RecordCode::Kind::Write;
  float cost = 0;
  if (r.lanes == ~0u && r.code.addresses == probe::RecordCode::Addresses::Row)
    return span(r, r.first, r.first + u64{probe::kLanes} * std::max(1u, r.code.bytes), write);
  const auto all = [&](const Lines& of) {
    constexpr u32 kRow = 5;  // at most, that begins anywhere
    const auto as = of.count() > kRow ? Footprint::As::Gather : Footprint::As::Row;
    for (const Lines::Line& l : of) cost = sum(cost, touch_line(r, l, write, as));
  };
  lines ? all(*lines) : all(Lines(r));
  return cost;
}

float LaunchTime::touch_atomic(const probe::Record& all) {
  probe::Record r = all;
  if (r.site < joined_.size() && joined_[r.site]) r.lanes &= ~r.lanes + 1;
  const AtomicSectors sectors(r);
  const bool swaps = r.site < swaps_.size() && swaps_[r.site];
  const u64 first = sectors.begin()->sector;
  ++atomics_told_, atomics_apart_ += std::exchange(first_sector_, first) != first;
  for (const AtomicSectors::Sector& s : sectors) of_atomics_.add(s.sector / 4, slice_cost(parameters_, s, swaps));
  float dram = 0;
  for (const Lines::Line& l : Lines(r)) {
    dram = sum(dram, footprint_.read(l.line, l.sectors, reader(r), Footprint::As::Atomic));
    footprint_.write(l.line, l.bytes);
  }
  stored_ += static_cast<u32>(std::popcount(r.lanes)) * r.code.bytes;
  const bool floats = r.site < floats_.size() && floats_[r.site];
  const double cycles = 1 / (floats ? parameters_.atomic_float : parameters_.atomic_address);
  for (u32 l = 0; l < probe::kLanes; ++l)
    if (r.lanes >> l & 1) atomics_[r.address(l)] += cycles;
  return dram;
}

// ... if it is of the bytes from `first` to before `end`.
float LaunchTime::span(const probe::Record& r, u64 first, u64 end, bool write) {
  float cost = 0;
  for (u64 line = first / kLineBytes; line * kLineBytes < end; ++line) {
    const u64 from = std::max(first, line * kLineBytes), to = std::min(end, (line + 1) * kLineBytes);
    Lines::Line l{line, 15, {kSectorBytes, kSectorBytes, kSectorBytes, kSectorBytes}, Lines::Bytes::from(from, to)};
    if (to - from < kLineBytes) {
      l.sectors = 0;
      for (u32 k = 0; k < 4; ++k) {
        const u64 sector = line * kLineBytes + u64{k} * kSectorBytes;
        const u64 low = std::max(from, sector), high = std::min(to, sector + kSectorBytes);
        l.bytes[k] = static_cast<u8>(low < high ? high - low : 0), l.sectors |= u32{low < high} << k;
      }
    }
    cost = sum(cost, touch_line(r, l, write, Footprint::As::Row));
  }
  return cost;
}

// ... of a bulk copy.
float LaunchTime::bring(const probe::Record& r) {
  const auto rows = probe::BulkRows::unpack(r.second);
  float dram = 0;
  for (u32 k = 0; k < rows.rows; ++k) {
    const u64 first = r.first + static_cast<u64>(i64{k} * rows.stride * 16), end = first + u64{rows.row} * 16;
    dram = sum(dram, span(r, first, end, false));
  }
  return dram;
}

// By the ways of all warps; of a sample, if there are too many different ones.
void LaunchTime::count(LaunchProfile& p) {
  sass::Execution& e = code_->execution;
  e.forget_counts();
  const u64 most = e.searched() + kMostSearched;
  u64 all = 0, walked = 0, lost = 0, warps = 0;
  instructions_.assign(traces_.paths().size(), 0);
  for (const auto& [hash, path] : traces_.paths()) {
    all += path.steps.size() * path.warps, warps += path.warps;
    if (e.searched() > most || path.steps.empty()) continue;
    const u64 instructions = e.add(path.steps, path.warps);
    instructions_[path.number] = static_cast<double>(instructions);
    if (instructions) walked += path.steps.size() * path.warps;
    lost = e.lost();
  }
  const u64 looked_at = e.walked() + lost;
  p.time.lost = (looked_at ? lost * warps / looked_at : 0) + traces_.left_out();
  const double scale = walked ? static_cast<double>(all) / static_cast<double>(walked) : 1;
  const auto scaled = [&](double n) { return static_cast<u64>(std::llround(n * scale)); };
  p.listing = code_->listing;
  p.machine.resize(p.listing->instructions.size());
  double executed = 0, lanes = 0;
  for (u32 b = 0; b < e.blocks().size(); ++b) {
    const u64 instructions = e.graph().blocks[b].end - e.graph().blocks[b].first;
    executed += static_cast<double>(e.blocks()[b].warps * instructions);
    lanes += static_cast<double>(e.blocks()[b].lanes * instructions);
    for (u32 k = e.graph().blocks[b].first; k < e.graph().blocks[b].end; ++k) {
      p.machine[k].warps = scaled(static_cast<double>(e.blocks()[b].warps));
      p.machine[k].lanes = scaled(static_cast<double>(e.blocks()[b].lanes));
    }
  }
  p.time.warps = scaled(executed), p.time.lanes = scaled(lanes);
}

// Loops that retry turn as often elsewhere as where they were replayed; lanes that leave them wait behind.
void LaunchTime::count_turns(const std::vector<SmTime::Turns>& turns, LaunchProfile& p) const {
  const auto add = [&](u32 k, double warps, double lanes) {
    p.machine[k].warps += static_cast<u64>(std::llround(warps)),
        p.machine[k].lanes += static_cast<u64>(std::llround(lanes));
    p.time.warps += static_cast<u64>(std::llround(warps)), p.time.lanes += static_cast<u64>(std::llround(lanes));
  };
  for (u32 b = 0; b < turns.size(); ++b) {
    const SmTime::Turns& t = turns[b];
    const TimedCode::Block& block = code_->timed.blocks[b];
    if (!t.first_warps || !t.first_lanes) continue;
    const double warps = static_cast<double>(p.machine[block.first].warps) / static_cast<double>(t.first_warps);
    const double lanes = static_cast<double>(p.machine[block.first].lanes) / static_cast<double>(t.first_lanes);
    for (u32 k = block.first; k < block.end; ++k)
      add(k, warps * static_cast<double>(t.warps - t.first_warps),
          lanes * static_cast<double>(t.lanes - t.first_lanes));
    if (block.end < code_->timed.rows.size() && code_->timed.rows[block.end].kind == Row::Kind::Reconverge)
      add(block.end, warps * static_cast<double>(t.apart), 0);
  }
}

std::string LaunchTime::why_not(const LaunchProfile& p) const {
  if (!timed_device(p.residency.device)) return no_parameters(p.residency.device);
  const auto calls = [&](const sass::PathStep& s) { return code_->calls[s.block]; };
  for (const auto& [hash, path] : traces_.paths())
    if (std::ranges::any_of(path.steps, calls))
      return "the kernel calls functions of the device (malloc, free, vprintf), whose time is not known";
  const u64 warps = ctas_ * warps_;
  if (static_cast<double>(p.time.lost) > kMostLost * static_cast<double>(warps))
    return fmt::format("{} of {} warps have no way through the machine code", p.time.lost, warps);
  return "";
}

std::vector<TimedCta> LaunchTime::replayed() {
  u32 slots = 0;
  const std::vector<Row>& rows = code_->timed.rows;
  for (u32 k = 0; k < rows.size(); ++k)
    if (const u32 site = code_->timed.sites[k];
        site != probe::kNoSite &&
        (rows[k].pipe == Pipe::Memory || rows[k].kind == Row::Kind::Bulk || rows[k].kind == Row::Kind::BulkStore))
      if (slot_of_site_[site] == ~0u) slot_of_site_[site] = slots++;
  std::vector<TimedCta> out;
  const auto place = [&](const auto& c) { return std::pair(c.cta % sms_, c.cta); };
  const bool special = last_is_special();
  std::erase_if(traces_.kept(), [&](const CtaTrace& c) {
    if (!special) return !chosen(c.cta);
    return !with_the_last(c.cta) && (ctas_ > sms_ ? c.cta % sms_ != 0 : !chosen(c.cta));
  });
  std::ranges::sort(traces_.kept(), {}, place);
  const u64 most = code_->execution.searched() + kMostSearched;
  u64 of_this_one = 0;  // CTAs of one multiprocessor
  for (const CtaTrace& c : traces_.kept()) {
    of_this_one = !out.empty() && out.back().cta % sms_ == c.cta % sms_ ? of_this_one + 1 : 0;
    // Enough, if the first multiprocessor is full.
    const bool begins = of_this_one == 0 && !out.empty();
    if (code_->execution.searched() > most && (begins || of_this_one >= 2 * resident_)) break;
    TimedCta cta{c.cta, {}, asked_of_[c.cta]};
    for (const WarpTrace& w : c.warps) {
      TimedWarp t;
      t.visits = code_->execution.visits(w.path);
      if (t.visits.empty() && !w.path.empty() && !cta.warps.empty()) {  // its neighbour stands for it
        cta.warps.push_back(cta.warps.back());
        continue;
      }
      t.accesses.resize(slots);
      probe::Record r;
      for (const u64 *at = w.accesses.data(), *end = at + w.accesses.size(); at < end;) {
        const u64* const behind = probe::read_record(at, r);
        const u32 slot = r.site < slot_of_site_.size() ? slot_of_site_[r.site] : ~0u;
        if (const auto [cost, late, event] = TimedCost::unpack(*behind); slot != ~0u)
          t.accesses[slot].push_back({at, cost, late, event});
        at = behind + 1;
      }
      cta.warps.push_back(std::move(t));
    }
    out.push_back(std::move(cta));
  }
  return out;
}

TimedLaunch LaunchTime::launch_of(const LaunchProfile& p, const Footprint::Traffic& dram) const {
  TimedLaunch l;
  l.code = code_->timed;
  l.slot_of_site = slot_of_site_;
  l.resident = resident_;
  l.warm_code = l2_is_kept_ && code_->ran;
  l.asked = asked_ / static_cast<double>(ctas_);
  const auto part = [](u64 some, u64 all) {
    return static_cast<double>(some) / static_cast<double>(std::max<u64>(1, all));
  };
  l.asked_at_once = 1 / (1 - part(dram.joined, dram.asked)), l.asked_apart = part(dram.asked_apart, dram.asked_first);
  l.active_sms = static_cast<u32>(std::min<u64>(sms_, ctas_));
  const u64 both = static_cast<u64>(parameters_.l1_and_shared);
  l.l1_bytes = both - std::min(both - kLeastL1, p.residency.shared_per_sm);
  l.written_back = stored_ ? dram.cost_of_writing * kSectorBytes / static_cast<double>(stored_) : 0;
  std::ranges::copy(p.grid, l.grid), std::ranges::copy(p.cluster, l.cluster);
  l.store_share = of_stores_.share_of_busiest(), l.atomic_share = of_atomics_.share_of_busiest();
  return l;
}

std::vector<std::vector<const TimedCta*>> LaunchTime::by_multiprocessor(const std::vector<TimedCta>& ctas) const {
  std::map<u32, std::vector<const TimedCta*>> of;
  for (const TimedCta& c : ctas) of[c.cta % sms_].push_back(&c);
  std::vector<std::vector<const TimedCta*>> out;
  for (auto& [sm, list] : of) out.push_back(std::move(list));
  return out;
}

void LaunchTime::tell_warps(const SmTime& sm, const std::vector<const TimedCta*>& ctas, LaunchProfile& p) const {
  if (p.replay.size() + sm.spans.size() > kMostTold) return;
  for (const SmTime::Span& s : sm.spans)
    p.replay.push_back({ctas[s.cta]->cta % sms_, ctas[s.cta]->cta, s.warp, s.partition, static_cast<u64>(s.begin),
                        static_cast<u64>(s.end)});
}

double LaunchTime::replay(const TimedLaunch& launch, const std::vector<TimedCta>& ctas, const Parameters& parameters,
                          const Tell& tell) const {
  double longest = 0, least = std::numeric_limits<double>::infinity();
  Balance balance(traces_.work(instructions_), ctas_, sms_, resident_);
  std::vector<Whole> all;
  const auto lists = by_multiprocessor(ctas);
  std::vector<SmTime> times(lists.size());
  for_each_index(lists.size(), [&](std::size_t k) { times[k] = run_multiprocessor(launch, lists[k], parameters); });
  for (std::size_t k = 0; k < lists.size(); ++k) {
    const auto& list = lists[k];
    const SmTime& sm = times[k];
    balance.set(sm.busy());
    all.push_back(whole(sm, list, balance));
    longest = std::max(longest, sm.cycles), least = std::min(least, all.back().load);
    tell(sm, list);
  }
  // Those that have most work say most of what the one takes that has most of all; chance is different in each.
  double sum = 0, count = 0;
  for (const Whole& w : all)
    if (w.load <= kAsMuch * least) sum += w.cycles, ++count;
  return std::max(longest, sum / count);
}

// Looks last until CTAs that are not replayed have written what they see. Returns by how much the last of all ends
// behind the last of those that are.
double LaunchTime::wait_for_others(const TimedLaunch& launch, std::vector<TimedCta>& ctas) {
  if (!hand_overs_.any()) return 0;
  replay(launch, ctas, parameters_, [&](const SmTime& sm, const auto& list) { hand_overs_.replayed(sm, list); });
  const double rest = hand_overs_.solve();
  for (TimedCta& c : ctas)
    for (TimedWarp& w : c.warps)
      for (std::vector<TimedAccess>& all : w.accesses)
        for (TimedAccess& a : all) a.waits = static_cast<float>(hand_overs_.wait_of(a.event));
  return rest;
}

// What the multiprocessor would take that has most of the launch's work.
LaunchTime::Whole LaunchTime::whole(const SmTime& sm, const std::vector<const TimedCta*>& list,
                                    const Balance& balance) const {
  const u32 number = list.front()->cta % sms_;
  const u64 mine = (ctas_ - number + sms_ - 1) / sms_;
  std::vector<u32> some;
  for (const TimedCta* c : list) some.push_back(c->cta);
  if (mine <= list.size() || list.size() < 2) {
    const double load = balance.of(number, some).load;
    return {sm.cycles + (load - 1) * std::max(0.0, sm.cycles - kStart), load};
  }
  // The CTAs that were not replayed go on at the pace at which the later half of those that were began: what the
  // last of them still have to do comes once.
  const std::vector<double>& starts = sm.starts;
  const std::size_t n = starts.size(), half = std::min(std::max<std::size_t>(n / 2, resident_), n - 2);
  const double each = (starts[n - 1] - starts[half]) / static_cast<double>(n - 1 - half);
  some.erase(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(half));
  const Balance::Of of = balance.of(number, some, list.size());
  const double all = static_cast<double>(mine) * of.load, rest = all - static_cast<double>(list.size());
  return {sm.cycles + each * of.each * std::max(0.0, rest), of.load};
}

// When atomics on one address are done at the earliest: one after the other, from the first on.
double LaunchTime::busiest_address(double first) const {
  double most = 0;
  for (const auto& [address, cycles] : atomics_) most = std::max(most, cycles);
  return std::isfinite(first) ? first + most : most;
}

// Of lines that are stored again as many leave with those that wait as where it was replayed.
double LaunchTime::busiest_slice() const {
  Slices both = of_stores_;
  if (again_.all > 0) both.add(of_again_, -again_.joined / again_.all);
  // Multiprocessors that come to many slices in different orders keep each other up.
  constexpr double kFew = 2, kMany = 48;  // slices that have all
  const double slices = 1 / of_atomics_.share_of_busiest(),
               many = std::clamp((slices - kFew) / (kMany - kFew), 0.0, 1.0);
  both.add(of_atomics_, 1 + parameters_.slice_apart * many * atomics_apart_ / std::max(1.0, atomics_told_));
  return both.busiest();
}

u64 LaunchTime::picoseconds(double longest) const {
  const u64 cycles = static_cast<u64>(longest + parameters_.launch_cycles);
  return static_cast<u64>(static_cast<double>(cycles) * 1000 / parameters_.sm_clock);
}

// Once for each shape: it takes as long as the model itself, several times.
void LaunchTime::ask_what_if(const TimedLaunch& launch, const std::vector<TimedCta>& ctas, double first_atomic,
                             double rest, LaunchProfile& p) const {
  KernelCode::Shape shape{p.shared_dynamic};
  std::ranges::copy(p.grid, shape.begin() + 1), std::ranges::copy(p.block, shape.begin() + 4);
  if (!code_->asked.insert(shape).second) return;
  for (u32 k = 0; k < kWhatIfs; ++k) {
    const auto what = static_cast<WhatIf>(k);
    const Changed c(what, launch, ctas, parameters_);
    if (!c.any()) continue;
    double longest = rest + replay(c.launch(), c.ctas(), c.parameters(), [](const auto&...) {});
    if (what != WhatIf::FastMemory) longest = std::max(longest, busiest_address(first_atomic));
    if (what != WhatIf::FastMemory && what != WhatIf::Coalesced) longest = std::max(longest, busiest_slice());
    p.what_ifs.push_back({what, picoseconds(longest)});
  }
}

void LaunchTime::finish(LaunchProfile& p, bool what_ifs) {
  traces_.finish();
  const std::lock_guard held(code_->m);
  count(p);
  const Footprint::Traffic dram = footprint_.finish();
  lines_ = dram.lines;
  if (p.no_time = why_not(p); !p.no_time.empty()) return;
  TimeProfile& t = p.time;
  std::vector<TimedCta> ctas = replayed();
  const TimedLaunch launch = launch_of(p, dram);
  const double rest = wait_for_others(launch, ctas);
  std::vector<SmTime::Turns> turns(launch.code.blocks.size());
  double local_read = 0, local_written = 0, replayed = 0, first_atomic = std::numeric_limits<double>::infinity();
  double longest = replay(launch, ctas, parameters_, [&](const SmTime& sm, const auto& list) {
    ++t.replayed, replayed += static_cast<double>(list.size());
    tell_warps(sm, list, p);
    first_atomic = std::min(first_atomic, sm.first_atomic), again_ += sm.stored_again;
    t.replayed_cycles += static_cast<u64>(sm.cycles), t.issued += sm.issued, t.warp_cycles += sm.warp_cycles;
    t.l1_sectors += static_cast<u64>(sm.l1_sectors), t.l1_hits += static_cast<u64>(sm.l1_hits);
    local_read += sm.local_read, local_written += sm.local_written;
    for (u32 b = 0; b < turns.size(); ++b) turns[b] += sm.turns[b];
    t.shared_cycles += static_cast<u64>(sm.shared_cycles), t.l2_bytes += static_cast<u64>(sm.l2_bytes);
    for (u32 row = 0; row < sm.stalls.size(); ++row)
      for (u32 k = 0; k < kStalls; ++k) t.stalls[k] += sm.stalls[row][k], p.machine[row].stalls[k] += sm.stalls[row][k];
  });
  if (!t.issued) {
    p.no_time = "no warp's way through the machine code was found";
    return;
  }
  count_turns(turns, p);
  longest += rest;
  longest = std::max({longest, busiest_address(first_atomic), busiest_slice()});
  t.active = static_cast<u64>(longest);
  t.cycles = static_cast<u64>(longest + parameters_.launch_cycles);
  t.picoseconds = picoseconds(longest);
  const double all = static_cast<double>(ctas_) / replayed;
  t.dram_read = dram.read * kSectorBytes + static_cast<u64>(local_read * all);
  t.dram_written = dram.written * kSectorBytes + static_cast<u64>(local_written * all);
  t.host_written = dram.of_host;
  for (std::size_t k = 0; k < p.machine.size(); ++k)
    if (const Row& r = code_->timed.rows[k]; r.kind == Row::Kind::Fence && r.latency > parameters_.fence_cta)
      t.fences += p.machine[k].warps;
  code_->ran = true;
  if (what_ifs) ask_what_if(launch, ctas, first_atomic, rest, p);
}

}  // namespace us::timing
