// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/records.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "probe/packed_site.h"

namespace us::sanitizer {
namespace {

using In = PackedReader;

struct Out : PackedRecord {
  explicit Out(RecordKind k) : PackedRecord(static_cast<u8>(k)) {}
};

Finding get_finding(In& in) {
  Finding f;
  f.check = static_cast<Check>(std::min(in.number(), static_cast<u64>(Check::Count)));
  f.launch = in.number();
  f.kernel = in.text();
  f.object = in.text();
  f.parties.resize(in.count());
  for (Party& p : f.parties) {
    p.action = in.text();
    p.site = probe::get_site(in);
    p.who = in.text();
    p.others = in.number();
  }
  f.why.resize(in.count());
  for (std::string& w : f.why) w = in.text();
  f.fix = in.text();
  f.times = in.number();
  f.blocks = in.number();
  f.seed = static_cast<u32>(in.number());
  return f;
}

// What a header of the toolkit does for one line of the program is one place.
std::string place_of(const Party& p) {
  const std::size_t own = own_frame(p.site);
  std::string key = fmt::format("{}|{}", p.action, own ? "" : p.site.text);
  for (std::size_t i = own; i < p.site.frames.size(); ++i) {
    const probe::Frame& f = p.site.frames[i];
    key += fmt::format("|{}:{}:{}:{}", f.file, f.line, f.column, f.function);
  }
  if (p.site.frames.empty()) key += fmt::format("|{}", p.site.ptx_line);
  return key;
}

void take(Findings& to, std::unordered_map<u64, std::size_t>& by_id, RecordKind kind, In& in) {
  if (kind == RecordKind::Process) {
    to.process = static_cast<u32>(in.number());
    to.program = in.text();
  } else if (kind == RecordKind::Finding) {
    const u64 id = in.number();
    Finding f = get_finding(in);
    if (f.check == Check::Count) return;
    by_id[id] = to.all.size();
    to.all.push_back(std::move(f));
  } else if (kind == RecordKind::Times) {
    const auto it = by_id.find(in.number());
    if (it == by_id.end()) return;
    to.all[it->second].times = in.number();
    to.all[it->second].blocks = in.number();
  } else if (kind == RecordKind::Judged) {
    u64& launches = to.judged[in.text()];
    launches = in.number();
  } else if (kind == RecordKind::NotJudged) {
    NotJudged n{in.text(), in.text(), 0};
    n.times = in.number();
    std::erase_if(to.not_judged, [&](const NotJudged& o) { return o.what == n.what && o.why == n.why; });
    to.not_judged.push_back(std::move(n));
  } else if (kind == RecordKind::End) {
    to.ended = true;
  }
}

}  // namespace

std::string key_of(const Finding& f) {
  std::vector<std::string> places;
  for (const Party& p : f.parties) places.push_back(place_of(p));
  std::sort(places.begin(), places.end());
  std::string key = fmt::format("{}\n{}", static_cast<u32>(f.check), f.kernel);
  for (const std::string& p : places) key += "\n" + p;
  if (places.empty()) key += "\n" + f.object;
  return key;
}

std::string process_record(u32 process, const std::string& program) {
  return Out(RecordKind::Process).number(process).text(program).record();
}

std::string finding_record(u64 id, const Finding& f) {
  Out out(RecordKind::Finding);
  out.number(id).number(static_cast<u64>(f.check)).number(f.launch).text(f.kernel).text(f.object);
  out.number(f.parties.size());
  for (const Party& p : f.parties) {
    out.text(p.action);
    probe::put_site(out, p.site);
    out.text(p.who).number(p.others);
  }
  out.number(f.why.size());
  for (const std::string& w : f.why) out.text(w);
  return out.text(f.fix).number(f.times).number(f.blocks).number(f.seed).record();
}

std::string times_record(u64 id, u64 times, u64 blocks) {
  return Out(RecordKind::Times).number(id).number(times).number(blocks).record();
}

std::string judged_record(const std::string& kernel, u64 launches) {
  return Out(RecordKind::Judged).text(kernel).number(launches).record();
}

std::string not_judged_record(const NotJudged& n) {
  return Out(RecordKind::NotJudged).text(n.what).text(n.why).number(n.times).record();
}

std::string end_record() { return Out(RecordKind::End).record(); }

Findings read_records(std::string_view bytes) {
  Findings out;
  std::unordered_map<u64, std::size_t> by_id;
  for_each_record(bytes, [&](u8 kind, In& in) { take(out, by_id, static_cast<RecordKind>(kind), in); });
  return out;
}

std::string to_records(const Findings& f) {
  std::string out = process_record(f.process, f.program);
  u64 id = 0;
  for (const Finding& one : f.all) out += finding_record(++id, one);
  for (const auto& [kernel, launches] : f.judged) out += judged_record(kernel, launches);
  for (const NotJudged& n : f.not_judged) out += not_judged_record(n);
  return f.ended ? out + end_record() : out;
}

void merge(Findings& into, Findings from) {
  std::unordered_map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < into.all.size(); ++i) known.emplace(key_of(into.all[i]), i);
  for (Finding& f : from.all) {
    const auto [it, fresh] = known.try_emplace(key_of(f), into.all.size());
    if (fresh) {
      into.all.push_back(std::move(f));
    } else {
      into.all[it->second].times += f.times;
      into.all[it->second].blocks += f.blocks;
    }
  }
  for (const auto& [kernel, launches] : from.judged) into.judged[kernel] += launches;
  for (NotJudged& n : from.not_judged) {
    const auto it =
        std::ranges::find_if(into.not_judged, [&](const NotJudged& o) { return o.what == n.what && o.why == n.why; });
    if (it == into.not_judged.end())
      into.not_judged.push_back(std::move(n));
    else
      it->times += n.times;
  }
}

}  // namespace us::sanitizer
