// SPDX-License-Identifier: Apache-2.0
#include "timing/footprint.h"

#include <algorithm>
#include <bit>

namespace us::timing {
namespace {

constexpr u64 kOfPage = 32;  // lines that are asked about together

u32 count(u32 sectors) { return static_cast<u32>(std::popcount(sectors)); }
u32 pairs(u32 sectors) { return (sectors & 3 ? 3u : 0) | (sectors & 12 ? 12u : 0); }

// At the same point of their way, or nearly.
bool near(u32 one, u32 other) {
  constexpr u32 kNear = 2;  // blocks of the program's text
  return one <= other + kNear && other <= one + kNear;
}

}  // namespace

class Footprint::Spare {
 public:
  static Spare& all() {
    static Spare* const s = new Spare;
    return *s;
  }
  Entry* take() {
    {
      const std::lock_guard held(m_);
      if (!pieces_.empty()) {
        Entry* const p = pieces_.back();
        pieces_.pop_back();
        return p;
      }
    }
    return static_cast<Entry*>(::operator new(kPiece* kGroup * sizeof(Entry)));
  }
  void give(std::vector<Entry*>& pieces) {
    const std::lock_guard held(m_);
    for (; !pieces.empty(); pieces.pop_back()) {
      if (pieces_.size() < kMost)
        pieces_.push_back(pieces.back());
      else
        ::operator delete(pieces.back());
    }
  }

 private:
  static constexpr std::size_t kMost = (std::size_t{512} << 20) / (kPiece * kGroup * sizeof(Entry));
  std::mutex m_;  // guards pieces_
  std::vector<Entry*> pieces_;
};

Footprint::~Footprint() { Spare::all().give(pieces_); }

// Groups that follow each other lie beside each other.
Footprint::Group& Footprint::group(u64 number) {
  const u64 mask = table_.size() - 1;
  u64 k = ((number / kGroup * 0x9e3779b97f4a7c15ull >> 20) + number) & mask;
  while (table_[k].number != number && table_[k].entries) k = (k + 1) & mask;
  return table_[k];
}

Footprint::Entry* Footprint::find_group(u64 line) {
  const Group& g = group(line / kGroup);
  if (!g.entries) return nullptr;
  last_ = g;
  return last_.entries + line % kGroup;
}

Footprint::Entry* Footprint::room_for_a_group() {
  if (!free_.empty()) {
    Entry* const e = free_.back();
    free_.pop_back();
    return e;
  }
  if (groups_ == pieces_.size() * kPiece) pieces_.push_back(Spare::all().take());
  Entry* const e = at(groups_++);
  std::uninitialized_fill_n(e, kGroup, Entry());
  return e;
}

Footprint::Entry& Footprint::entry_of(u64 line) {
  if (Entry* const e = find(line)) return *e;
  if (used_ * 2 > table_.size()) grow();
  Group& g = group(line / kGroup);
  g = last_ = {line / kGroup, room_for_a_group()};
  ++used_;
  return g.entries[line % kGroup];
}

// Groups of which all is old leave room.
void Footprint::rebuild(std::size_t size) {
  const std::vector<Group> before = std::move(table_);
  table_.assign(size, {});
  used_ = 0, last_ = {};
  const auto gone = [&](const Entry& e) { return e.line == ~u64{0} || (!e.dirty && old(e)); };
  for (const Group& g : before) {
    if (!g.entries) continue;
    if (kept_ && std::all_of(g.entries, g.entries + kGroup, gone)) {
      std::fill_n(g.entries, kGroup, Entry());
      free_.push_back(g.entries);
      continue;
    }
    group(g.number) = g;
    ++used_;
  }
}

void Footprint::grow() {
  if (!kept_) return rebuild(table_.size() * 2);  // nothing in it is old
  rebuild(table_.size());
  if (used_ * 4 > table_.size()) rebuild(table_.size() * 2);
}

double Footprint::room(u64 line, double mean, double spread) const {
  const u64 hash = line * 0x9e3779b97f4a7c15ull;
  double sum = 0;  // nearly normal: of four bytes
  for (u32 k = 32; k < 64; k += 8) sum += static_cast<double>(hash >> k & 0xff);
  constexpr double kMean = 510, kDeviation = 147.8;
  return mean * (1 + spread * (sum - kMean) / kDeviation);
}

bool Footprint::old(const Entry& e) const {
  const u32 age = static_cast<u32>(lines_ - e.since);
  if (age <= most_lines_ / 2) return false;  // as nearly always
  const double mean = static_cast<double>(most_lines_) * (1 - p_.l2_written_takes * std::min(1.0, 2 * written_share_));
  return age > room(e.line, mean, p_.l2_spread);
}

// The line is dirty, and DRAM has it already.
bool Footprint::put_back_since(const Entry& e) const {
  const u32 age = static_cast<u32>(writes_ - e.dirtied);
  return age > dirty_room_ / 2 && age > room(e.line, dirty_room_, p_.l2_spread);
}

// CTAs that are at work at the same time run one after the other here: what one reads that another one has just read
// is there, whatever ran in between.
Footprint::Entry& Footprint::enter(u64 line, const Reader* who) {
  Entry& e = entry_of(line);
  if (e.line != line) {
    e.line = line;
    touched(e);
  } else if (who && at_once(e, *who)) {
    return e;
  } else if (old(e)) {
    put_back(e, e.dirty);
    e = {.line = line};
    touched(e);
  } else if (static_cast<u32>(lines_ - e.since) > most_lines_ / kSoon) {
    touched(e);
  }
  return e;
}

const probe::Page& Footprint::page(u64 line) {
  static constexpr probe::Page kPlain;
  if (!memory_.page) return kPlain;
  Known& k = pages_[line / kOfPage % kPages];
  if (k.number != line / kOfPage) k = {line / kOfPage, memory_.page(line * 128)};
  return k.is;
}

u32 Footprint::moved(u64 line, u32 sectors) {
  if (sectors < 4 || !page(line).compressible) return sectors;
  return sectors / memory_.compression(line * 128);
}

// CTAs that read the same at the same point of their way: who is behind has less to wait for until it is not
// (oracle/timing/mixes.txt, together). Who was far behind when the line came is the first on the device, and the other
// finds the line there: of the two one waits for DRAM, and one was charged for it.
float Footprint::on_the_way(Entry& e, Reader r) const {
  const bool waits = at_once(e, r);
  const u64 apart = distance(e, r);
  if (beside(e, r) && r.progress < e.reader.progress) e.reader = r;
  return waits ? -static_cast<float>(apart) : 0;
}

u64 Footprint::distance(const Entry& e, Reader r) {
  return r.cta > e.reader.cta ? r.cta - e.reader.cta : e.reader.cta - r.cta;
}

bool Footprint::beside(const Entry& e, Reader r) const {
  return distance(e, r) < at_a_time_ && e.launch == (launch_ & kLaunches);
}

bool Footprint::at_once(const Entry& e, Reader r) const { return beside(e, r) && near(r.progress, e.reader.progress); }

// Up to four requests of the multiprocessors of a GPC for a line go to L2 as one (oracle/timing/merging.txt). CTAs that
// follow each other are in one GPC, sixteen at a time, and the next sixteen in the next of eight. Who reads rows keeps
// in step with others, because who is behind finds them there; who gathers does not.
void Footprint::ask(Entry& e, Reader r, bool joins) {
  constexpr u32 kGpcs = 8, kTogether = 4;
  const u32 launch = launch_ & kAskedIn;
  if (e.asked_in == launch && e.asker == r.cta) return;
  ++so_far_.asked;
  if (e.asked_in != launch || r.cta - e.asker >= at_a_time_ || !near(r.progress, e.asked))
    e.asked_in = launch, e.asked = r.progress, e.gpcs = e.askers = 0, ++so_far_.asked_first;
  else if (e.asker / kOfGpc == r.cta / kOfGpc)
    ++e.askers;
  else
    so_far_.asked_apart += ++e.gpcs == 1, e.askers = 0;
  e.asker = r.cta;
  so_far_.joined += joins && (e.gpcs / kGpcs + e.askers) % kTogether != 0;
}

// Half a line, without what is beside it: neither the other line of a pair, nor the line before, which would have come
// just now, nor the other half at about the same time (oracle/timing/pieces.txt: streams that begin at half lines).
bool Footprint::lone(const Entry& e, u32 brought, Reader r) {
  if (count(brought) > 2 || neighbour(e).line == (e.line ^ 1)) return false;
  if (e.sectors && at_once(e, r)) return false;
  const u64 before = e.line - 1;
  const Entry* const last = e.line % kGroup ? &e - 1 : find(before);
  return !last || last->line != before || static_cast<u32>(lines_ - last->since) > 2;
}

float Footprint::read(u64 line, u32 sectors, Reader reader, As as) {
  behind_ = false;
  const probe::Page& p = page(line);
  if (p.host) return static_cast<float>(count(sectors) * p_.dram_rate * p_.sm_clock / p_.host_read);
  if (p.compressible && memory_.compression(line * 128) > 1) sectors = 15;
  Entry& e = enter(line, &reader);
  if (as != As::Atomic) ask(e, reader, as == As::Row);
  const u32 missing = sectors & ~e.sectors;
  if (!missing) return on_the_way(e, reader);
  const u32 brought = (as == As::Atomic ? missing : pairs(missing)) & ~e.sectors;
  const bool alone = lone(e, brought, reader);
  behind_ = e.dirty;
  e.reader = reader, e.launch = launch_ & kLaunches;
  e.sectors = (e.sectors | brought) & 15;
  const u32 of_dram = moved(line, count(brought));
  so_far_.read += of_dram;
  if (of_dram < count(brought)) return static_cast<float>(of_dram);
  return static_cast<float>(count(brought) * (alone ? p_.dram_lone_read : 1));
}

bool Footprint::lone(const Entry& e) const { return count(e.dirty) <= 2 && !neighbour(e).dirty; }

// Sectors go to DRAM. What is written of them only in part is read first.
void Footprint::put_back(Entry& e, u32 sectors) {
  const u32 parts = count(sectors & e.parts()), whole = count(sectors) - parts;
  const bool alone = lone(e);
  const u32 of_dram = moved(e.line, whole);
  so_far_.written += parts + of_dram, so_far_.read += parts;
  so_far_.cost_of_writing += of_dram * (alone ? p_.dram_lone_read : 1) + parts * (alone ? p_.dram_part : p_.dram_parts);
  e.dirty = e.dirty & ~sectors & 15;
  for (u32 k = 0; k < 4; ++k)
    if (sectors >> k & 1) e.bytes[k] = 0;
}

void Footprint::write(u64 line, const u8 (&bytes)[4]) {
  if (page(line).host) {
    const double n = bytes[0] + bytes[1] + bytes[2] + bytes[3];
    so_far_.of_host += static_cast<u64>(n);
    so_far_.cost_of_writing += n / 32 * p_.dram_rate * p_.sm_clock / p_.host_write;
    return;
  }
  Entry& e = enter(line);
  if (e.parts() && static_cast<double>(parts_ - e.open) > p_.l2_parts) put_back(e, e.parts());
  const bool open = e.parts();
  if (kept_ && e.dirty && put_back_since(e)) put_back(e, e.dirty);
  if (!e.dirty || static_cast<u32>(writes_ - e.dirtied) > dirty_room_ / kSoon) {
    e.dirtied = static_cast<u32>(writes_++);
    written_share_ += 1 / kShareOf;
    if (kept_) dirty_.emplace_back(line, e.dirtied);
  }
  for (u32 k = 0; k < 4; ++k) {
    if (!bytes[k]) continue;
    fresh_ += !(e.dirty >> k & 1);
    e.bytes[k] = static_cast<u8>(std::min(32, e.bytes[k] + bytes[k]));
    e.dirty = (e.dirty | 1u << k) & 15;
    if (e.bytes[k] == 32) e.sectors = (e.sectors | 1u << k) & 15;
  }
  if (!open && e.parts()) e.open = static_cast<u32>(parts_++);
}

void Footprint::finish_flushed() {
  u64 lines = 0, kept = 0;
  double cost = 0;
  for_each_entry([&](Entry& e) {
    if (e.parts() && static_cast<double>(parts_ - e.open) > p_.l2_parts) put_back(e, e.parts());
    if (!e.dirty) return;
    const u32 of_dram = moved(e.line, count(e.dirty));
    ++lines, kept += of_dram;
    cost += of_dram * (lone(e) ? p_.dram_lone_read : 1);
  });
  // Of the rest stays what fits; what is read takes room from it.
  const double read = static_cast<double>(so_far_.read), written = static_cast<double>(so_far_.written + kept);
  const double room = p_.l2_dirty / 128 * (1 - 0.5 * read / std::max(1.0, read + written));
  const double gone = lines ? std::max(0.0, 1 - room / static_cast<double>(lines)) : 0;
  so_far_.written += static_cast<u64>(gone * static_cast<double>(kept)), so_far_.cost_of_writing += gone * cost;
  for_each_entry([](Entry& e) { e.dirty = 0; });
}

// What was written first goes first; what is read takes room from it, but no more than it needs.
void Footprint::finish_kept() {
  constexpr u64 kForEach = 2;  // of what comes, a guess
  const u64 most = so_far_.written + kForEach * (so_far_.read + fresh_);
  const double read = static_cast<double>(so_far_.read), written = static_cast<double>(fresh_);
  dirty_room_ = p_.l2_dirty_kept / 128 * (1 - 0.5 * read / std::max(1.0, read + written));
  std::vector<std::pair<u64, u32>> stay;
  for (; !dirty_.empty() && so_far_.written <= most; dirty_.pop_front()) {
    const auto [line, dirtied] = dirty_.front();
    Entry* const e = find(line);
    if (!e || e->line != line || !e->dirty || e->dirtied != dirtied) continue;
    if (put_back_since(*e) || old(*e)) {
      put_back(*e, e->dirty);
    } else if (static_cast<u32>(writes_ - dirtied) > dirty_room_ / 2) {
      stay.push_back(dirty_.front());
    } else {
      break;
    }
  }
  dirty_.insert(dirty_.begin(), stay.begin(), stay.end());
}

Footprint::Traffic Footprint::finish() {
  kept_ ? finish_kept() : finish_flushed();
  so_far_.lines = lines_ - before_;
  const Traffic all = so_far_;
  so_far_ = {}, fresh_ = 0;
  return all;
}

// Copies and sets write whole lines: of each range at most what L2 holds is looked at.
void Footprint::enter_touched(const Touched& t) {
  const u64 first = t.begin / 128, end = (t.begin + t.bytes + 127) / 128;
  const u64 from = end - first > most_lines_ ? end - most_lines_ : first;
  lines_ += from - first;
  constexpr u8 kWhole[4] = {32, 32, 32, 32};
  for (u64 line = from; line < end; ++line) t.write ? write(line, kWhole) : void(read(line, 15, {}));
}

void Footprint::touch(u64 begin, u64 bytes, bool write) {
  if (!kept_ || !bytes) return;
  const std::lock_guard held(m_);
  touched_.push_back({begin, bytes, write});
}

void Footprint::begin(u64 at_a_time, Memory memory) {
  memory_ = std::move(memory);
  at_a_time_ = at_a_time;
  pages_.assign(memory_.page ? kPages : 0, {});
  std::vector<Touched> all;
  {
    const std::lock_guard held(m_);
    all.swap(touched_);
  }
  for (const Touched& t : all) enter_touched(t);
  if (!all.empty()) finish_kept();
  so_far_ = {}, fresh_ = 0, before_ = lines_, ++launch_;
}

}  // namespace us::timing
