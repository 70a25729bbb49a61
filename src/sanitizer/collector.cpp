// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/collector.h"

#include <algorithm>
#include <unordered_map>

#include "sanitizer/records.h"

namespace us::sanitizer {
namespace {

constexpr std::size_t kBlocks = 1 << 20;  // that are told apart

bool has_lines(const Finding& f) {
  const auto has = [](const Party& p) { return !p.site.frames.empty(); };
  return !f.parties.empty() && std::ranges::all_of(f.parties, has);
}

}  // namespace

bool Collector::count(const Key& k, u64 block, u32 apart) {
  auto [at, fresh] = rows_.try_emplace(k);
  Row& r = at->second;
  if (fresh) r.number = rows_.size();
  if (r.blocks.size() < kBlocks) r.blocks.insert(block);
  r.finding.blocks = r.blocks.size();
  if (!fresh) r.finding.times++;
  const bool wider = apart > r.apart;
  r.apart = std::max(r.apart, apart);
  return fresh || wider;
}

void Collector::keep(const Key& k, Finding f) {
  Row& r = rows_[k];
  f.times = r.finding.times, f.blocks = r.finding.blocks;
  r.finding = std::move(f);
}

std::vector<Finding> Collector::take() {
  std::vector<Row*> all;
  for (auto& [k, r] : rows_)
    if (r.finding.check != Check::Count) all.push_back(&r);
  std::sort(all.begin(), all.end(), [](const Row* a, const Row* b) { return a->number < b->number; });
  // Several instructions of one line are one finding, and may have met in the same blocks.
  std::unordered_map<std::string, Row*> first;
  std::vector<Row*> apart;
  for (Row* r : all) {
    Row* const same = has_lines(r->finding) ? first.try_emplace(key_of(r->finding), r).first->second : r;
    if (same == r) {
      apart.push_back(r);
      continue;
    }
    Row& known = *same;
    known.finding.times += r->finding.times;
    known.blocks.merge(r->blocks);
    known.finding.blocks = known.blocks.size();
  }
  std::vector<Finding> out;
  for (Row* r : apart) out.push_back(std::move(r->finding));
  rows_.clear();
  return out;
}

}  // namespace us::sanitizer
