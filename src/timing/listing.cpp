// SPDX-License-Identifier: Apache-2.0
#include "timing/listing.h"

#include <map>

#include "base/packed.h"
#include "timing/record_kinds.h"

namespace us::timing {
namespace {

std::string trimmed(std::string_view s) {
  const auto begin = s.find_first_not_of(" \t");
  const auto end = s.find_last_not_of(" \t\r");
  return begin == s.npos ? "" : std::string(s.substr(begin, end - begin + 1));
}

// `f` sees each number and text, to write it or to read it.
template <class I, class F>
void each_number(I& i, F&& f) {
  f(i.word.lo), f(i.word.hi), f(i.ptx_line), f(i.place), f(i.statement);
}

}  // namespace

Listing Listing::of(const sass::Image& image, const sass::Function& f, const std::vector<u32>& statements, u32 id) {
  Listing out;
  out.id = id, out.origin = image.origin;
  std::map<u32, u32> number_of;  // of statements of the program
  const sass::Program& p = *image.program;
  const u32 entry = p.first_block_of(f.name);
  for (u32 k = 0; k < p.statements().size(); ++k) {
    const auto& s = p.statements()[k];
    if (entry == sass::Program::kNone || p.blocks()[s.block].function != p.blocks()[entry].function) continue;
    number_of[k] = static_cast<u32>(out.statements.size());
    out.statements.push_back(
        {s.site, s.line, s.line && s.line <= image.code.ptx.size() ? trimmed(image.code.ptx[s.line - 1]) : ""});
  }
  std::map<Place, u32> place_of;
  for (u32 k = 0; k < f.instructions.size(); ++k) {
    Instruction i{f.instructions[k].word, k < f.ptx_lines.size() ? f.ptx_lines[k] : 0};
    if (const auto s = number_of.find(statements[k]); s != number_of.end()) i.statement = s->second;
    if (k < f.cuda_lines.size() && !f.cuda_lines[k].empty()) {
      const sass::SourceLine& l = f.cuda_lines[k].front();
      const auto [it, fresh] = place_of.try_emplace({l.file, l.line}, static_cast<u32>(out.places.size()));
      if (fresh) out.places.push_back(it->first);
      i.place = it->second;
    }
    out.instructions.push_back(i);
  }
  return out;
}

std::string to_record(const Listing& l, u32 process) {
  PackedRecord out(static_cast<u8>(RecordKind::Listing));
  out.number(process).number(l.id).text(l.origin);
  out.number(l.places.size());
  for (const auto& p : l.places) out.text(p.file).number(p.line);
  out.number(l.statements.size());
  for (const auto& s : l.statements) out.number(s.site).number(s.line).text(s.text);
  out.number(l.instructions.size());
  for (const auto& i : l.instructions) each_number(i, [&](u64 n) { out.number(n); });
  return out.record();
}

ListingOfProcess get_listing(PackedReader& in) {
  const auto number = [&in] { return static_cast<u32>(in.number()); };
  const u32 process = number();
  Listing l;
  l.id = number(), l.origin = in.text();
  l.places.resize(in.count());
  for (auto& p : l.places) p.file = in.text(), p.line = number();
  l.statements.resize(in.count());
  for (auto& s : l.statements) s.site = number(), s.line = number(), s.text = in.text();
  l.instructions.resize(in.count());
  for (auto& i : l.instructions) {
    each_number(i, [&](auto& n) { n = static_cast<std::remove_reference_t<decltype(n)>>(in.number()); });
    if (i.place >= l.places.size()) i.place = Listing::kNone;
    if (i.statement >= l.statements.size()) i.statement = Listing::kNone;
  }
  return {process, std::make_shared<const Listing>(std::move(l))};
}

}  // namespace us::timing
