// SPDX-License-Identifier: Apache-2.0
// text_fuzz --ptx|--fatbin [--count N] [--seconds S] [--seed N]
// Damaged PTX texts and fat binaries: they are loaded or refused with diagnostics, and never crash or hang the process.
// Before each input its seed goes to a file-backed page (--trace FILE), so that a crash names it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ptx/fatbin.h"
#include "ptx/ptx.h"
#include "random.h"

namespace {

using namespace us;
using fuzz::Random;
namespace fs = std::filesystem;

std::vector<std::string> corpus() {
  std::vector<std::string> texts;
  std::vector<fs::path> paths;
  for (const char* dir : {"/tests/ptx", "/tests/ptx_front"})
    for (const auto& e : fs::recursive_directory_iterator(US_SOURCE_DIR + std::string(dir)))
      if (e.path().extension() == ".ptx" && e.file_size() < 20000) paths.push_back(e.path());
  std::sort(paths.begin(), paths.end());
  for (const auto& p : paths) {
    std::ifstream in(p);
    std::stringstream s;
    s << in.rdbuf();
    texts.push_back(s.str());
  }
  return texts;
}

std::vector<std::string> tokens(const std::string& text) {
  std::vector<std::string> out;
  auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("_$%.:", c); };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (word(text[at]))
      while (end < text.size() && word(text[end])) ++end;
    out.push_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

std::string damaged_text(const std::vector<std::string>& texts, Random& r) {
  std::vector<std::string> t = tokens(r.pick(texts));
  const std::vector<std::string> other = tokens(r.pick(texts));
  static const std::vector<std::string> odd = {"0xffffffffffffffffffff",
                                               "-9223372036854775808",
                                               "0f7fffffff",
                                               "[",
                                               "]",
                                               "{",
                                               "}",
                                               "(",
                                               ")",
                                               ";",
                                               ",",
                                               "<",
                                               ">",
                                               "\"",
                                               "/*",
                                               "%",
                                               ".",
                                               "4294967296",
                                               "-1",
                                               "_",
                                               "!",
                                               "@",
                                               "0d",
                                               "0f1",
                                               ".align 0",
                                               ".b8 x[99999999999]",
                                               ".align 3",
                                               "\0",
                                               "\n"};
  for (u32 n = 1 + r.below(6); n-- > 0 && !t.empty();) {
    const std::size_t at = r.below(static_cast<u32>(t.size()));
    switch (r.below(7)) {
      case 0:
        t.erase(t.begin() + static_cast<long>(at));
        break;
      case 1:
        t.insert(t.begin() + static_cast<long>(at), t[at]);
        break;
      case 2:
        t[at] = t[r.below(static_cast<u32>(t.size()))];
        break;
      case 3:
        t[at] = other.empty() ? "" : other[r.below(static_cast<u32>(other.size()))];
        break;
      case 4:
        t[at] = odd[r.below(static_cast<u32>(odd.size()))];
        break;
      case 5:
        if (!t[at].empty()) t[at][r.below(static_cast<u32>(t[at].size()))] = static_cast<char>(r.next());
        break;
      default:
        if (r.chance(10)) t.resize(at);
        break;
    }
  }
  std::string out;
  for (const auto& x : t) out += x;
  return out;
}

// A plain fat binary of a few entries.
std::vector<u8> fat_binary(const std::vector<std::string>& texts, Random& r) {
  std::vector<u8> out(16);
  auto put = [&](std::size_t at, u64 v, std::size_t n) { std::memcpy(out.data() + at, &v, n); };
  for (u32 k = 1 + r.below(3); k-- > 0;) {
    std::string body = r.chance(30) ? "x" : r.pick(texts).substr(0, 2000);
    body.resize((body.size() + 8) / 8 * 8);
    const std::size_t at = out.size();
    out.resize(at + 80 + body.size());
    put(at, 1 + r.below(2), 2), put(at + 2, 0x101, 2), put(at + 4, 80, 4), put(at + 8, body.size(), 8);
    put(at + 28, 80 + r.below(12), 4), put(at + 40, 0x11 | (r.chance(20) ? 0x2000 : r.chance(20) ? 0x8000 : 0), 8);
    if (r.chance(40)) put(at + 16, body.size(), 4), put(at + 56, r.below(100000), 8);
    std::memcpy(out.data() + at + 80, body.data(), body.size());
  }
  put(0, 0xba55ed50, 4), put(4, 1, 2), put(6, 16, 2), put(8, out.size() - 16, 8);
  return out;
}

bool try_ptx(const std::string& text) { return static_cast<bool>(ptx::parse(text, "fuzz.ptx")); }

bool try_fatbin(const std::vector<std::string>& texts, Random& r) {
  std::vector<u8> f = fat_binary(texts, r);
  for (u32 n = r.below(5); n-- > 0;) {
    const u32 size = static_cast<u32>(f.size()), at = r.chance(70) ? r.below(std::min(size, 200u)) : r.below(size);
    static constexpr u64 odd[] = {0, 1, 0xff, 0xffff, 0x7fffffff, 0xffffffff, ~0ull, 1ull << 63, 1ull << 40};
    const u64 v = r.chance(50) ? odd[r.below(9)] : r.next();
    const std::size_t width = std::size_t{1} << r.below(4);
    if (at + width <= size) std::memcpy(f.data() + at, &v, width);
  }
  if (r.chance(20)) f.resize(r.below(static_cast<u32>(f.size())) + 1);
  // On the heap to the byte, so that reading beyond the end is seen.
  const std::vector<u8> exact(f.begin(), f.end());
  auto image = ptx::find_ptx(std::span<const u8>(exact), ptx::Target{});
  return image && try_ptx(image->ptx);
}

}  // namespace

int main(int argc, char** argv) {
  u64 count = 1000, seed = 1;
  double seconds = 0, slowest = 0;
  bool fatbin = false, only = false;
  std::string trace;
  for (int k = 1; k < argc; ++k) {
    const std::string a = argv[k];
    const char* value = k + 1 < argc ? argv[k + 1] : "";
    if (a == "--count")
      count = std::strtoull(value, nullptr, 0), ++k;
    else if (a == "--seed")
      seed = std::strtoull(value, nullptr, 0), ++k;
    else if (a == "--seconds")
      seconds = std::strtod(value, nullptr), ++k;
    else if (a == "--trace")
      trace = value, ++k;
    else if (a == "--fatbin")
      fatbin = true;
    else if (a == "--print")
      only = true;
    else if (a != "--ptx")
      return std::fprintf(
                 stderr,
                 "usage: text_fuzz --ptx|--fatbin [--count N] [--seconds S] [--seed N] [--trace FILE] [--print]\n"),
             2;
  }
  const std::vector<std::string> texts = corpus();
  if (texts.empty()) return std::fprintf(stderr, "no PTX files found\n"), 2;
  std::FILE* log = trace.empty() ? nullptr : std::fopen(trace.c_str(), "w");
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  auto since = [](Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); };
  u64 done = 0, accepted = 0, slow_seed = seed;
  while (seconds > 0 ? since(start) < seconds : done < count) {
    Random r(seed + done);
    if (log)
      std::rewind(log), std::fprintf(log, "%020llu\n", static_cast<unsigned long long>(seed + done)), std::fflush(log);
    const auto t = Clock::now();
    if (fatbin) {
      accepted += try_fatbin(texts, r);
    } else {
      const std::string text = damaged_text(texts, r);
      if (only) std::fputs(text.c_str(), stdout);
      accepted += try_ptx(text);
    }
    if (since(t) > slowest) slowest = since(t), slow_seed = seed + done;
    ++done;
  }
  std::printf("%llu inputs, %llu accepted, slowest %.0f ms (seed %llu), %.1f s\n",
              static_cast<unsigned long long>(done), static_cast<unsigned long long>(accepted), slowest * 1000,
              static_cast<unsigned long long>(slow_seed), since(start));
  return slowest > 5;
}
