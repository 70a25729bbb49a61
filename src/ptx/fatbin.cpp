// SPDX-License-Identifier: Apache-2.0
//   fat binary: |magic u32|version u16|header bytes u16|bytes behind the header u64| entry, entry, ..
//   entry:      |kind u16 (1 PTX, 2 ELF, 8 LTO-IR)|version u16|header bytes u32|payload bytes u64|compressed bytes u32|
//               .. to 24: minor u16|major u16|arch u32| .. to 40: flags u64| .. to 56: uncompressed bytes u64|
//               .. to 64, in a longer header: offset of options u32|bytes of them u32| .. header end: payload
//   wrapper:    |magic u32|version u32|pointer to a fat binary|version 2: pointer to a list of them, 0 at the end|
#include "ptx/fatbin.h"

#include "ptx/bundle.h"
#include "ptx/entries.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

#include "ptx/mapped.h"
#include "ptx/ptx.h"

namespace us::ptx {
namespace {

constexpr u32 kFatMagic = 0xBA55ED50, kWrapperMagic = 0x466243b1, kElfMagic = 0x464c457f, kBundleMagic = 0xB5585450;
constexpr std::size_t kFatHeader = 16, kEntryHeader = 64;
constexpr u64 kLz4 = 0x2000, kZstd = 0x8000, kArchSpecific = 0x100000, kFamilySpecific = 0x200000;
constexpr u64 kMaxPtx = 1ull << 29;
constexpr std::string_view kNoPtx = "there is no PTX for this device";

template <class T>
T get(std::span<const u8> s, std::size_t at) {
  T v{};
  if (at + sizeof(T) <= s.size()) std::memcpy(&v, s.data() + at, sizeof(T));
  return v;
}

Diag problem(std::string message) { return {Diag::Kind::Error, {}, std::move(message)}; }

struct Entry {
  std::span<const u8> header, payload;
  bool is_ptx() const { return get<u16>(header, 0) == 1; }
  bool is_elf() const { return get<u16>(header, 0) == 2; }
  bool is_lto_ir() const { return get<u16>(header, 0) == 8; }
  u32 arch() const { return get<u32>(header, 28); }
  u64 flags() const { return get<u64>(header, 40); }
  bool suits(Target t) const {
    if (flags() & (kArchSpecific | kFamilySpecific)) return arch() == t.sm && t.arch_specific;
    return arch() <= t.sm;
  }
  bool runs_on(Target t) const {  // machine code: on what is not older, within one major version
    if (flags() & kArchSpecific) return arch() == t.sm && t.arch_specific;
    return arch() / 10 == t.sm / 10 && arch() <= t.sm;
  }
  bool is_for_newer(Target t) const { return arch() > t.sm && !(flags() & (kArchSpecific | kFamilySpecific)); }
  u64 rank() const { return arch() * 2ull + ((flags() & kArchSpecific) != 0); }
  std::string options() const {
    const u64 at = get<u32>(header, 64), bytes = get<u32>(header, 68);
    if (header.size() < kEntryHeader + 8 || at > header.size() || bytes > header.size() - at) return {};
    return {reinterpret_cast<const char*>(header.data()) + at, bytes};
  }
};

// The entries of a fat binary; false if one does not fit in it.
bool entries_of(std::span<const u8> fatbin, std::vector<Entry>& out) {
  std::span<const u8> rest = fatbin.subspan(kFatHeader);
  while (rest.size() >= kEntryHeader) {
    const u32 header = get<u32>(rest, 4);
    const u64 payload = get<u64>(rest, 8);
    if (header < kEntryHeader || header > rest.size() || payload > rest.size() - header) return false;
    out.push_back({rest.first(header), rest.subspan(header, payload)});
    rest = rest.subspan(header + payload);
  }
  return std::all_of(rest.begin(), rest.end(), [](u8 b) { return b == 0; });
}

// So many bytes at most come out of these: a damaged size must not cost a gigabyte of zeros.
u64 most_text(bool zstd, std::span<const u8> packed) {
  if (!zstd) return packed.size() * 255;  // the longest match per byte of its length
  const auto known = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (known == ZSTD_CONTENTSIZE_ERROR) return 0;
  const u64 blocks = packed.size() * (128 * 1024 / 3);  // 128 KB out of a header of three bytes
  return known == ZSTD_CONTENTSIZE_UNKNOWN ? blocks : std::min<u64>(known, blocks);
}

Result<std::string> text_of(const Entry& e) {
  const u64 packed = e.flags() & (kLz4 | kZstd);
  const u32 size_in = get<u32>(e.header, 16);
  const u64 size_out = get<u64>(e.header, 56);
  if (e.payload.size() > kMaxPtx)
    return problem("an entry of the fat binary claims to hold more PTX than there can be");
  if (!packed) return std::string(reinterpret_cast<const char*>(e.payload.data()), e.payload.size());
  if (size_in > e.payload.size()) return problem("a compressed entry of the fat binary is longer than its payload");
  if (size_out > kMaxPtx) return problem("an entry of the fat binary claims to hold more PTX than there can be");
  if (size_out > most_text(packed == kZstd, e.payload.first(size_in)))
    return problem("an entry of the fat binary does not decompress");
  std::string text(size_out, '\0');
  bool ok;
  if (packed == kZstd) {
    const std::size_t n = ZSTD_decompress(text.data(), text.size(), e.payload.data(), size_in);
    ok = !ZSTD_isError(n) && n == size_out;
  } else {
    const int n = LZ4_decompress_safe(reinterpret_cast<const char*>(e.payload.data()), text.data(),
                                      static_cast<int>(std::min<u32>(size_in, 0x7fffffff)), static_cast<int>(size_out));
    ok = n >= 0 && static_cast<u64>(n) == size_out;
  }
  if (!ok) return problem("an entry of the fat binary does not decompress");
  return text;
}

std::string name_of(const Entry& e) {
  const char* what = e.is_ptx() ? "PTX for compute_" : e.is_elf() ? "machine code for sm_" : "link-time code for lto_";
  std::string name = what + std::to_string(e.arch());
  if (e.flags() & kArchSpecific) name += "a";
  if (e.flags() & kFamilySpecific) name += "f";
  return name;
}

// What is there instead, and how to get PTX.
Diag no_ptx(const std::vector<Entry>& entries, Target t) {
  std::string found;
  for (const Entry& e : entries) {
    if (!found.empty()) found += ", ";
    found += name_of(e);
  }
  const std::string sm = std::to_string(t.sm);
  return problem(std::string(kNoPtx) + " (sm_" + sm + "): the program carries " + (found.empty() ? "no code" : found) +
                 "; compile it with -gencode arch=compute_" + sm + ",code=compute_" + sm);
}

struct Wrapper {
  u32 magic, version;
  const void* fatbin;
  const void* list;
};

}  // namespace

Container container_of(const void* p) {
  constexpr u64 kPage = 4096;
  u32 magic;
  const bool at_end = reinterpret_cast<u64>(p) % kPage > kPage - sizeof magic;
  if (at_end && mapped_from(p).size() < sizeof magic) return Container::Text;
  std::memcpy(&magic, p, sizeof magic);
  return magic == kFatMagic       ? Container::FatBinary
         : magic == kWrapperMagic ? Container::Wrapper
         : magic == kElfMagic     ? Container::Elf
         : magic == kBundleMagic  ? Container::Bundle
                                  : Container::Text;
}

bool is_ptx(std::string_view s) {
  while (!s.empty()) {
    const auto skip = [&](std::string_view end) { s.remove_prefix(std::min(s.size(), s.find(end) + end.size())); };
    if (std::isspace(static_cast<unsigned char>(s.front())))
      s.remove_prefix(1);
    else if (s.starts_with("//") && s.find('\n') != s.npos)
      skip("\n");
    else if (s.starts_with("/*") && s.find("*/") != s.npos)
      skip("*/");
    else
      return s.starts_with('.');
  }
  return false;
}

u64 fat_binary_bytes(std::span<const u8> at) {
  if (at.size() < kFatHeader || get<u32>(at, 0) != kFatMagic || get<u16>(at, 6) != kFatHeader) return 0;
  const u64 length = get<u64>(at, 8);
  return length > at.size() - kFatHeader ? 0 : kFatHeader + length;
}

bool has_lto_ir(std::span<const u8> fatbin) {
  std::vector<Entry> entries;
  const u64 bytes = fat_binary_bytes(fatbin);
  return bytes && entries_of(fatbin.first(bytes), entries) && std::ranges::any_of(entries, &Entry::is_lto_ir);
}

namespace {
Result<std::vector<Entry>> read_entries(std::span<const u8> fatbin) {
  if (fatbin.size() < kFatHeader || get<u32>(fatbin, 0) != kFatMagic || get<u16>(fatbin, 6) != kFatHeader)
    return problem("this is no fat binary");
  const u64 length = get<u64>(fatbin, 8);
  if (length > fatbin.size() - kFatHeader) return problem("the fat binary is cut short");
  std::vector<Entry> entries;
  if (!entries_of(fatbin.first(kFatHeader + length), entries))
    return problem("the fat binary is damaged: an entry does not fit in it");
  return entries;
}
}  // namespace

bool is_damaged(const void* image) {
  return container_of(image) == Container::FatBinary && !read_entries(mapped_from(image));
}

Result<std::vector<std::string>> list_entries(std::span<const u8> fatbin) {
  const auto entries = read_entries(fatbin);
  if (!entries) return entries.diags();
  std::vector<std::string> names;
  for (const Entry& e : *entries) names.push_back(name_of(e));
  return names;
}

Result<Image> find_ptx(std::span<const u8> fatbin, Target t) {
  const auto read = read_entries(fatbin);
  if (!read) return read.diags();
  const std::vector<Entry>& entries = *read;
  const Entry* best = nullptr;
  for (const Entry& e : entries)
    if (e.is_ptx() && e.suits(t) && (!best || e.rank() > best->rank())) best = &e;
  if (!best) return no_ptx(entries, t);
  Result<std::string> text = text_of(*best);
  if (!text) return text.diags();
  return Image{std::move(*text), best->arch(), (best->flags() & kArchSpecific) != 0, best->options()};
}

Result<Image> find_newer_ptx(std::span<const u8> fatbin, Target t) {
  const auto read = read_entries(fatbin);
  if (!read) return read.diags();
  const std::vector<Entry>& entries = *read;
  const Entry* best = nullptr;
  if (std::ranges::any_of(entries, [&](const Entry& e) { return e.is_elf() && e.runs_on(t); }))
    for (const Entry& e : entries)
      if (e.is_ptx() && e.is_for_newer(t) && (!best || e.rank() < best->rank())) best = &e;
  if (!best) return no_ptx(entries, t);
  Result<std::string> text = text_of(*best);
  if (!text) return text.diags();
  return Image{std::move(*text), best->arch(), false, best->options()};
}

namespace {
using Find = Result<Image>(std::span<const u8> fatbin, Target);

// What `find` finds in each fat binary of a wrapper.
Result<std::vector<Image>> find_in_all(const void* p, Target t, Find* find, u32* skipped) {
  const auto w = get<Wrapper>(mapped_from(p), 0);
  if (w.magic != kWrapperMagic) return problem("this is no fat binary wrapper");
  if (w.version != 1 && w.version != 2)
    return problem("fat binary wrapper of unknown version " + std::to_string(w.version));
  std::vector<Image> images;
  std::vector<Diag> missing;
  u32 without = 0;
  const auto take = [&](const void* fatbin) -> Result<bool> {
    Result<Image> r = find(mapped_from(fatbin), t);
    if (r) {
      images.push_back(std::move(*r));
    } else {
      if (!is_no_ptx(r.diags())) return r.diags();
      missing = r.diags();
      ++without;
    }
    return true;
  };
  if (w.version == 1 || !w.list) {
    if (const auto r = take(w.fatbin); !r) return r.diags();
  } else {
    const std::span<const u8> list = mapped_from(w.list);
    for (std::size_t at = 0;; at += sizeof(void*)) {
      if (at + sizeof(void*) > list.size()) return problem("the list of fat binaries has no end");
      const void* const fatbin = get<const void*>(list, at);
      if (!fatbin) break;
      if (const auto r = take(fatbin); !r) return r.diags();
    }
  }
  if (skipped) *skipped = without;
  if (images.empty()) return missing.empty() ? std::vector<Diag>{no_ptx({}, t)} : missing;
  return images;
}
}  // namespace

Result<Image> find_ptx(const void* fatbin, Target t) { return find_ptx(mapped_from(fatbin), t); }

Result<std::vector<Image>> find_all_ptx(const void* p, Target t, u32* skipped) {
  return find_in_all(p, t, find_ptx, skipped);
}

Result<std::vector<Image>> find_newer_ptx(const void* image, Target t) {
  const Container c = container_of(image);
  if (c == Container::Wrapper) return find_in_all(image, t, find_newer_ptx, nullptr);
  if (c != Container::FatBinary) return problem(std::string(kNoPtx) + ", nor for a newer one");
  Result<Image> r = find_newer_ptx(mapped_from(image), t);
  if (!r) return r.diags();
  return std::vector<Image>{std::move(*r)};
}

std::string make_bundle(std::span<const std::string> texts) {
  std::string out;
  const auto put = [&](const auto v) { out.append(reinterpret_cast<const char*>(&v), sizeof v); };
  put(kBundleMagic);
  put(static_cast<u32>(texts.size()));
  for (const std::string& t : texts) {
    put(static_cast<u64>(t.size()));
    out += t;
  }
  return out;
}

std::string make_fat_binary(const std::string& ptx, const std::string& machine_code, std::string_view target) {
  u32 sm = 0;
  const std::size_t number = target.find('_') + 1;
  std::from_chars(target.data() + number, target.data() + target.size(), sm);
  const u64 flags = target.ends_with('a') ? kArchSpecific : target.ends_with('f') ? kFamilySpecific : 0;
  std::string body;
  const auto put = [](std::string& s, std::size_t at, const auto v) { std::memcpy(s.data() + at, &v, sizeof v); };
  const auto entry = [&](u16 kind, std::string payload) {
    payload.resize((payload.size() + 7) / 8 * 8);
    std::string head(kEntryHeader, '\0');
    put(head, 0, kind);
    put(head, 2, u16{0x101});
    put(head, 4, static_cast<u32>(kEntryHeader));
    put(head, 8, static_cast<u64>(payload.size()));
    put(head, 28, sm);
    put(head, 40, flags);
    body += head + payload;
  };
  entry(2, machine_code);
  entry(1, ptx + '\0');
  std::string out(kFatHeader, '\0');
  put(out, 0, kFatMagic);
  put(out, 4, u16{1});
  put(out, 6, static_cast<u16>(kFatHeader));
  put(out, 8, static_cast<u64>(body.size()));
  return out + body;
}

Result<std::vector<Image>> texts_of_bundle(std::span<const u8> bundle) {
  const Diag damaged = problem("this is no linked code, or it is damaged");
  std::vector<Image> images;
  std::span<const u8> rest = bundle.subspan(std::min(bundle.size(), 2 * sizeof(u32)));
  for (u32 left = get<u32>(bundle, sizeof(u32)); left > 0; --left) {
    const u64 length = get<u64>(rest, 0);
    if (rest.size() < sizeof length || length > kMaxPtx || length > rest.size() - sizeof length) return damaged;
    images.emplace_back().ptx.assign(reinterpret_cast<const char*>(rest.data()) + sizeof length, length);
    rest = rest.subspan(sizeof length + length);
  }
  return images.empty() ? Result<std::vector<Image>>(damaged) : images;
}

namespace {

void take_machine_code(const void* fatbin, Target t, std::vector<std::string>& out) {
  const std::span<const u8> bytes = mapped_from(fatbin);
  const u64 size = fat_binary_bytes(bytes);
  std::vector<Entry> entries;
  if (size == 0 || !entries_of(bytes.first(size), entries)) return;
  const Entry* best = nullptr;
  for (const Entry& e : entries)
    if (e.is_elf() && e.runs_on(t) && (!best || e.rank() > best->rank())) best = &e;
  if (!best) return;
  if (Result<std::string> code = text_of(*best)) out.push_back(std::move(*code));
}

}  // namespace

std::vector<std::string> find_machine_code(const void* image, Target t) {
  std::vector<std::string> out;
  if (container_of(image) == Container::FatBinary) take_machine_code(image, t, out);
  if (container_of(image) != Container::Wrapper) return out;
  const auto w = get<Wrapper>(mapped_from(image), 0);
  take_machine_code(w.fatbin, t, out);  // of version 2: what the list was linked to
  if (w.version != 2 || !w.list) return out;
  const std::span<const u8> list = mapped_from(w.list);
  for (std::size_t at = 0; const void* const fatbin = get<const void*>(list, at); at += sizeof(void*))
    take_machine_code(fatbin, t, out);
  return out;
}

Result<std::vector<Image>> find_images(const void* image, Target t) {
  switch (container_of(image)) {
    case Container::Text:
      return std::vector<Image>{{.ptx = static_cast<const char*>(image), .options = {}}};
    case Container::Elf:
      return problem(std::string(kNoPtx) + ": the image is machine code (a cubin)");
    case Container::FatBinary: {
      Result<Image> r = find_ptx(image, t);
      if (!r) return r.diags();
      return std::vector<Image>{std::move(*r)};
    }
    case Container::Bundle:
      return texts_of_bundle(mapped_from(image));
    case Container::Wrapper:
      break;
  }
  return find_all_ptx(image, t);
}

Result<std::unique_ptr<ir::Module>> load(const std::vector<Image>& images, const std::string& name) {
  std::vector<std::unique_ptr<ir::Module>> modules;
  for (const Image& i : images) {
    Result<std::unique_ptr<ir::Module>> m = parse(i.ptx, name);
    if (!m) return m.diags();
    modules.push_back(std::move(*m));
  }
  if (modules.size() == 1) return std::move(modules.front());
  return link(std::move(modules), name);
}

Result<std::unique_ptr<ir::Module>> load(const void* image, Target t, const std::string& name) {
  const Result<std::vector<Image>> images = find_images(image, t);
  if (!images) return images.diags();
  return load(*images, name);
}

bool is_no_ptx(const std::vector<Diag>& d) { return d.size() == 1 && d.front().message.starts_with(kNoPtx); }

}  // namespace us::ptx
