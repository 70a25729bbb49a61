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

void take_section(Bytes section, std::vector<Bytes>& out) {
  while (!section.empty()) {
    const u64 bytes = ptx::fat_binary_bytes(section);
    if (bytes == 0) {  // padding up to the next one
      section = section.subspan(std::min<std::size_t>(section.size(), 8));
      continue;
    }
    out.push_back(section.first(bytes));
    section = section.subspan(bytes);
  }
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
  for (const sass::Elf::Section& s : elf->sections)
    if (s.name == ".nv_fatbin" || s.name == "__nv_relfatbin") take_section(s.bytes, out);
  return true;
}

}  // namespace us::nvjitlink
