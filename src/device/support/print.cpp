// SPDX-License-Identifier: Apache-2.0
#include "device/support/print.h"

#include <algorithm>
#include <cstring>

namespace us::device {
namespace {
constexpr int kMaxArguments = 32;   // those after it are not converted
constexpr int kWidestField = 4096;  // width and precision are cut to this

// Reads packed arguments one after the other.
struct ArgReader {
  const u8* at;
  int used = 0;
  const std::function<void(const char*)>& may_read;
  template <class T>
  T next() {
    at = reinterpret_cast<const u8*>((u64(at) + sizeof(T) - 1) & ~u64(sizeof(T) - 1));
    T value;
    std::memcpy(&value, at, sizeof(T));
    at += sizeof(T);
    ++used;
    return value;
  }
};

// One conversion: %[flags][width][.precision][length]letter
struct Spec {
  std::string flags;
  int width = -1, precision = -1;
  std::string length;
  char letter = 0;
};

bool is_one_of(char c, const char* set) { return c && std::strchr(set, c); }

int number(const char*& p) {
  int n = 0;
  for (; *p >= '0' && *p <= '9'; ++p) n = std::min(n * 10 + (*p - '0'), kWidestField);
  return n;
}

// `stars`: arguments for `*`. Returns false if the text is no conversion we know; then nothing has been consumed.
bool parse(const char*& p, Spec& s, bool& width_star, bool& precision_star) {
  const char* q = p;
  while (is_one_of(*q, "-+ #0")) s.flags += *q++;
  width_star = precision_star = false;
  if (*q == '*')
    width_star = true, ++q;
  else if (*q >= '0' && *q <= '9')
    s.width = number(q);
  if (*q == '.') {
    ++q;
    if (*q == '*')
      precision_star = true, ++q;
    else
      s.precision = number(q);
  }
  while (is_one_of(*q, "hlLqjzt") && s.length.size() < 2) s.length += *q++;
  if (!is_one_of(*q, "diouxXcsSpaAeEfFgG")) return false;
  s.letter = *q++;
  p = q;
  return true;
}

bool is_wide(const std::string& length) { return is_one_of(length.empty() ? 0 : length[0], "lLqjzt"); }

// `pattern` is made of checked pieces only: flags, numbers and one letter.
template <class T>
void append(std::string& out, const Spec& s, const char* length, T value) {
  std::string pattern = "%" + s.flags;
  if (s.width >= 0) pattern += std::to_string(s.width);
  if (s.precision >= 0) pattern += "." + std::to_string(s.precision);
  pattern += length;
  pattern += s.letter;
  char small[128];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  int n = std::snprintf(small, sizeof small, pattern.c_str(), value);
  if (n < 0) return;
  if (size_t(n) < sizeof small) {
    out.append(small, size_t(n));
    return;
  }
  size_t before = out.size();
  out.resize(before + size_t(n) + 1);
  std::snprintf(out.data() + before, size_t(n) + 1, pattern.c_str(), value);
#pragma GCC diagnostic pop
  out.pop_back();
}

void convert_integer(std::string& out, const Spec& s, ArgReader& args) {
  bool is_signed = s.letter == 'd' || s.letter == 'i';
  if (is_wide(s.length)) return append(out, s, "ll", args.next<unsigned long long>());
  u32 v = args.next<u32>();
  if (s.length == "hh")
    v = is_signed ? u32(i32(i8(v))) : u32(u8(v));
  else if (s.length == "h")
    v = is_signed ? u32(i32(i16(v))) : u32(u16(v));
  append(out, s, "", v);
}

void convert(std::string& out, const Spec& s, ArgReader& args) {
  switch (s.letter) {
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      return convert_integer(out, s, args);
    case 'c':
      return append(out, s, "", args.next<int>());
    case 'p':
      return append(out, s, "", args.next<void*>());
    case 's':
    case 'S': {
      const char* text = args.next<const char*>();
      if (text && args.may_read) args.may_read(text);
      Spec plain = s;
      plain.letter = 's';
      return append(out, plain, "", text ? text : "(null)");
    }
    default:
      return append(out, s, "", args.next<double>());
  }
}

void take_star(int& field, Spec& s, ArgReader& args, bool is_width) {
  int v = args.next<int>();
  if (is_width && v < 0) s.flags += '-', v = v < -kWidestField ? kWidestField : -v;
  field = v < 0 ? -1 : std::min(v, kWidestField);  // a negative precision counts as none
}
}  // namespace

int format_printf(std::string& out, const char* format, const u8* packed,
                  const std::function<void(const char*)>& may_read) {
  if (!format) return -1;
  ArgReader args{packed, 0, may_read};
  for (const char* p = format; *p;) {
    size_t plain = std::strcspn(p, "%");
    out.append(p, plain);
    p += plain;
    if (!*p) break;
    if (p[1] == '%') {
      out += '%';
      p += 2;
      continue;
    }
    const char* start = p++;
    Spec s;
    bool width_star, precision_star;
    if (!parse(p, s, width_star, precision_star) || args.used + 1 + width_star + precision_star > kMaxArguments) {
      p = std::max(p, start + 1);
      out.append(start, size_t(p - start));
      continue;
    }
    if (width_star) take_star(s.width, s, args, true);
    if (precision_star) take_star(s.precision, s, args, false);
    convert(out, s, args);
  }
  return args.used;
}

PrintBuffer::PrintBuffer(u64 capacity, std::function<void(std::string_view)> sink)
    : capacity_(capacity), sink_(std::move(sink)) {
  if (!sink_) sink_ = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
}

void PrintBuffer::add(std::string_view text, u64 cost) {
  std::lock_guard lock(m_);
  entries_.push_back({std::string(text), cost});
  used_ += cost;
  while (used_ > capacity_ && !entries_.empty()) {
    used_ -= entries_.front().cost;
    entries_.pop_front();
  }
}

void PrintBuffer::set_capacity(u64 bytes) {
  std::lock_guard lock(m_);
  capacity_ = bytes;
}

void PrintBuffer::flush() {
  std::lock_guard ordered(sink_mutex_);
  std::deque<Entry> entries;
  {
    std::lock_guard lock(m_);
    entries.swap(entries_);
    used_ = 0;
  }
  if (entries.empty()) return;
  std::string text;
  for (const Entry& e : entries) text += e.text;
  sink_(text);
}

}  // namespace us::device
