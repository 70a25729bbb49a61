// SPDX-License-Identifier: Apache-2.0
//   archive: "!<arch>\n", then per member a head of 60 characters (name 16, .. size as text at 48, "`\n") and its
//            bytes, padded to an even length; "/" and "//" are tables of symbols and of long names
#include "cuda/libnvjitlink/host_files.h"

#include <algorithm>
#include <charconv>

#include "ptx/fatbin.h"
#include "sass/elf.h"

namespace us::nvjitlink {
namespace {

constexpr std::string_view kArchive = "!<arch>\n";

std::string_view text(Bytes b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

// Each begins at a multiple of 8 bytes. False: one is cut short.
bool take_section(Bytes section, std::vector<Bytes>& out) {
  while (!section.empty()) {
    const u64 bytes = ptx::fat_binary_bytes(section);
    if (bytes) out.push_back(section.first(bytes));
    const bool padding = sass::number_at<u32>(section, 0) == 0;
    if (!bytes && !padding) return false;
    section = section.subspan(std::min<std::size_t>(section.size(), bytes ? (bytes + 7) / 8 * 8 : 8));
  }
  return true;
}

}  // namespace

bool is_archive(Bytes b) { return text(b).starts_with(kArchive); }

std::vector<Bytes> archive_members(Bytes archive) {
  constexpr std::size_t kHead = 60, kSizeAt = 48, kSizeBytes = 10;
  std::vector<Bytes> members;
  for (std::size_t at = kArchive.size(); at + kHead <= archive.size();) {
    const std::string_view head = text(archive.subspan(at, kHead));
    u64 size = 0;
    std::from_chars(head.data() + kSizeAt, head.data() + kSizeAt + kSizeBytes, size);
    if (size > archive.size() - at - kHead) break;
    const bool table = head.starts_with("/ ") || head.starts_with("//") || head.starts_with("/SYM64/");
    if (!table) members.push_back(archive.subspan(at + kHead, size));
    at += kHead + size + size % 2;
  }
  return members;
}

bool fat_binaries(Bytes object, std::vector<Bytes>& out) {
  const auto elf = sass::Elf::read(object);
  if (!elf) return false;
  return std::ranges::all_of(elf->sections, [&](const sass::Elf::Section& s) {
    const bool device_code = s.name == ".nv_fatbin" || s.name == "__nv_relfatbin";
    return !device_code || (s.bytes.size() == s.size && take_section(s.bytes, out));
  });
}

}  // namespace us::nvjitlink
