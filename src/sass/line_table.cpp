// SPDX-License-Identifier: Apache-2.0
// DWARF's line number program (version 2 to 4). The toolkit adds the extended opcode 0x90 (uleb row, uleb name):
// What follows was inlined at that row of this sequence (0: no longer); the function's name stands in .debug_str.
#include "sass/line_table.h"

#include <algorithm>

namespace us::sass {

namespace {

constexpr u8 kEndSequence = 1, kSetAddress = 2, kInlinedCall = 0x90;
constexpr u8 kCopy = 1, kAdvancePc = 2, kAdvanceLine = 3, kSetFile = 4, kConstAddPc = 8, kFixedAdvancePc = 9;
constexpr std::size_t kMostRows = 1 << 22;

class Cursor {
 public:
  Cursor(std::span<const u8> bytes, u64 begin, u64 end)
      : bytes_(bytes), at_(begin), end_(std::min<u64>(end, bytes.size())) {}
  bool more() const { return at_ < end_; }
  u64 at() const { return at_; }
  void move(u64 to) { at_ = std::max(at_, to); }
  u8 byte() { return more() ? bytes_[at_++] : u8{0}; }
  template <class T>
  T number() {
    const T v = at_ + sizeof(T) <= end_ ? number_at<T>(bytes_, at_) : T{};
    at_ += sizeof(T);
    return v;
  }
  u64 unsigned_leb() {
    u64 v = 0;
    for (u32 shift = 0; more(); shift += 7) {
      const u8 b = byte();
      if (shift < 64) v |= u64{b & 0x7fu} << shift;
      if (!(b & 0x80)) break;
    }
    return v;
  }
  i64 signed_leb() {
    u64 v = 0;
    for (u32 shift = 0; more();) {
      const u8 b = byte();
      if (shift < 64) v |= u64{b & 0x7fu} << shift;
      shift += 7;
      if (b & 0x80) continue;
      if (b & 0x40 && shift < 64) v |= ~u64{0} << shift;
      break;
    }
    return static_cast<i64>(v);
  }
  std::string text() {
    std::string s;
    for (u8 c; more() && (c = byte()) != 0;) s += static_cast<char>(c);
    return s;
  }

 private:
  std::span<const u8> bytes_;
  u64 at_, end_;
};

}  // namespace

class LineProgram {
 public:
  LineProgram(LineTable& out, std::span<const u8> bytes, std::map<u64, std::pair<u32, u64>> places)
      : out_(out), bytes_(bytes), places_(std::move(places)) {}

  void run() {
    for (u64 at = 0; at + 4 <= bytes_.size();) {
      const u64 length = number_at<u32>(bytes_, at);
      if (length >= 0xfffffff0) return;  // the 64-bit format does not occur
      unit(at + 4, at + 4 + length);
      at += 4 + length;
    }
    for (auto& [section, rows] : out_.by_section_)
      std::ranges::stable_sort(rows, {}, [](const auto& r) { return r.first; });
  }

 private:
  struct Head {
    u8 least = 1, range = 1, base_opcode = 1;
    i8 base_line = 0;
    std::vector<u8> lengths;
  };

  void unit(u64 begin, u64 end) {
    Cursor c(bytes_, begin, end);
    const u16 version = c.number<u16>();
    if (version < 2 || version > 4) return;
    const u64 program = c.number<u32>() + c.at();
    head_ = {};
    head_.least = c.byte();
    if (version >= 4) c.byte();
    c.byte();
    head_.base_line = static_cast<i8>(c.byte());
    head_.range = std::max<u8>(c.byte(), 1);
    head_.base_opcode = std::max<u8>(c.byte(), 1);
    head_.lengths.assign(1, 0);
    for (u32 i = 1; i < head_.base_opcode; ++i) head_.lengths.push_back(c.byte());
    std::vector<std::string> directories{""};
    for (std::string s; c.at() < program && !(s = c.text()).empty();) directories.push_back(s);
    first_file_ = static_cast<u32>(out_.files_.size()) - 1;
    for (std::string s; c.at() < program && !(s = c.text()).empty();) {
      const u64 directory = c.unsigned_leb();
      c.unsigned_leb(), c.unsigned_leb();
      const bool relative = !s.starts_with('/') && directory > 0 && directory < directories.size();
      out_.files_.push_back(relative ? directories[directory] + "/" + s : s);
    }
    c.move(program);
    execute(c);
  }

  void execute(Cursor& c) {
    restart();
    while (c.more() && out_.rows_.size() < kMostRows) {
      const u8 op = c.byte();
      if (op >= head_.base_opcode) {
        const u32 v = op - head_.base_opcode;
        offset_ += u64{v / head_.range} * head_.least;
        line_ += static_cast<u32>(head_.base_line + static_cast<int>(v % head_.range));
        row();
      } else if (op == 0) {
        extended(c);
      } else {
        standard(op, c);
      }
    }
  }

  void extended(Cursor& c) {
    const u64 length = c.unsigned_leb();
    const u64 begin = c.at();
    if (length == 0) return;
    const u8 op = c.byte();
    if (op == kSetAddress) {
      const auto place = places_.find(c.at());
      const u64 address = c.number<u64>();
      if (place != places_.end()) {
        section_ = place->second.first;
        offset_ = place->second.second + address;
      } else {
        section_ = 0;
        offset_ = address;
      }
    } else if (op == kInlinedCall) {
      const u64 row = c.unsigned_leb();
      function_ = static_cast<u32>(c.unsigned_leb());
      context_ = row && row <= out_.rows_.size() - first_row_ ? first_row_ + static_cast<u32>(row) : 0;
    } else if (op == kEndSequence) {
      restart();
    }
    c.move(begin + length);
  }

  void standard(u8 op, Cursor& c) {
    switch (op) {
      case kCopy:
        row();
        break;
      case kAdvancePc:
        offset_ += c.unsigned_leb() * head_.least;
        break;
      case kAdvanceLine:
        line_ += static_cast<u32>(c.signed_leb());
        break;
      case kSetFile:
        file_ = static_cast<u32>(c.unsigned_leb());
        break;
      case kConstAddPc:
        offset_ += u64{(255u - head_.base_opcode) / head_.range} * head_.least;
        break;
      case kFixedAdvancePc:
        offset_ += c.number<u16>();
        break;
      default:
        for (u32 i = 0; i < head_.lengths[op]; ++i) c.unsigned_leb();
    }
  }

  void restart() {
    section_ = 0, offset_ = 0, file_ = 1, line_ = 1, context_ = 0, function_ = 0;
    first_row_ = static_cast<u32>(out_.rows_.size());
  }

  void row() {
    const u64 file = u64{first_file_} + file_;
    out_.rows_.push_back({offset_, file_ && file < out_.files_.size() ? static_cast<u32>(file) : 0, line_, context_,
                          context_ ? function_ : 0});
    if (section_) out_.by_section_[section_].push_back({offset_, static_cast<u32>(out_.rows_.size() - 1)});
  }

  LineTable& out_;
  std::span<const u8> bytes_;
  std::map<u64, std::pair<u32, u64>> places_;  // where an address stands: section, offset
  Head head_;
  u32 first_file_ = 0, first_row_ = 0;
  u32 section_ = 0, file_ = 1, line_ = 1, context_ = 0, function_ = 0;
  u64 offset_ = 0;
};

LineTable LineTable::read(const Elf& elf, std::string_view section) {
  LineTable out;
  const Elf::Section* s = elf.section(section);
  if (!s) return out;
  std::map<u64, std::pair<u32, u64>> places;
  for (const Elf::Relocation& r : elf.relocations_of(*s)) {
    const Elf::Symbol& symbol = elf.symbols[r.symbol];
    if (symbol.section) places[r.offset] = {symbol.section, symbol.value + static_cast<u64>(r.addend)};
  }
  if (const Elf::Section* names = elf.section(".debug_str"))
    out.names_.assign(reinterpret_cast<const char*>(names->bytes.data()), names->bytes.size());
  LineProgram(out, s->bytes, std::move(places)).run();
  return out;
}

const LineTable::Row* LineTable::find(u32 section, u64 offset) const {
  const auto it = by_section_.find(section);
  if (it == by_section_.end()) return nullptr;
  const auto after = std::ranges::upper_bound(it->second, offset, {}, [](const auto& r) { return r.first; });
  return after == it->second.begin() ? nullptr : &rows_[(after - 1)->second];
}

u32 LineTable::line_of(u32 section, u64 offset) const {
  const Row* r = find(section, offset);
  return r ? r->line : 0;
}

std::vector<SourceLine> LineTable::lines_of(u32 section, u64 offset) const {
  std::vector<SourceLine> out;
  constexpr std::size_t kDeepest = 256;  // a damaged table may lead back to itself
  for (const Row* r = find(section, offset); r && out.size() < kDeepest;
       r = r->context ? &rows_[r->context - 1] : nullptr) {
    std::string function;
    if (r->context) function = text_at({reinterpret_cast<const u8*>(names_.data()), names_.size()}, r->function);
    out.push_back({files_[r->file], r->line, std::move(function)});
  }
  return out;
}

}  // namespace us::sass
