// SPDX-License-Identifier: Apache-2.0
#include "codegen/object_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/hash.h"

namespace us::codegen {
namespace {

constexpr char kMagic[8] = {'u', 's', 'o', 'b', 'j', '0', '0', '2'};

struct Header {
  char magic[8];
  u32 yields, local_bytes, its, whole_cta, triggers, unused;
  u64 size, check;
};

u64 checksum(const std::vector<u8>& v) {
  Hash h;
  h.bytes(v.data(), v.size());
  return h.a ^ h.b;
}

}  // namespace

std::string ObjectCache::path(const std::string& key) const {
  return dir_ + "/" + key.substr(0, 2) + "/" + key.substr(2) + ".uso";
}

bool ObjectCache::load(const std::string& key, ObjectCode* out) const {
  if (!enabled()) return false;
  std::FILE* f = std::fopen(path(key).c_str(), "rb");
  if (!f) return false;
  Header h;
  bool ok = std::fread(&h, sizeof h, 1, f) == 1 && std::memcmp(h.magic, kMagic, 8) == 0 && h.size < (u64{1} << 30);
  if (ok) {
    out->elf.resize(h.size);
    ok = std::fread(out->elf.data(), 1, h.size, f) == h.size && checksum(out->elf) == h.check;
  }
  std::fclose(f);
  if (!ok) return false;
  out->yields = h.yields;
  out->local_bytes = h.local_bytes;
  out->its = h.its;
  out->whole_cta = h.whole_cta;
  out->triggers = h.triggers;
  return true;
}

void ObjectCache::store(const std::string& key, const ObjectCode& code) const {
  if (!enabled()) return;
  std::error_code ec;
  const std::filesystem::path target = path(key);
  std::filesystem::create_directories(target.parent_path(), ec);
  const std::string aside = target.string() + fmt::format(".{}.tmp", getpid());
  Header h{};
  std::memcpy(h.magic, kMagic, 8);
  h.yields = code.yields;
  h.local_bytes = code.local_bytes;
  h.its = code.its;
  h.whole_cta = code.whole_cta;
  h.triggers = code.triggers;
  h.size = code.elf.size();
  h.check = checksum(code.elf);
  {
    std::ofstream f(aside, std::ios::binary);
    f.write(reinterpret_cast<const char*>(&h), sizeof h);
    f.write(reinterpret_cast<const char*>(code.elf.data()), static_cast<std::streamsize>(code.elf.size()));
    if (!f) {
      std::filesystem::remove(aside, ec);
      return;
    }
  }
  std::filesystem::rename(aside, target, ec);
}

std::string cache_key(const ir::Module& m, const std::string& kernel, const Variant& v, const Options& o,
                      const std::string& cpu) {
  Hash h;
  h.word(device::kAbiVersion);
  h.text(US_BUILD_ID);
  h.text(cpu);
  h.word(m.hash[0]);
  h.word(m.hash[1]);
  h.text(kernel);
  for (u32 d : {v.block.x, v.block.y, v.block.z, v.cluster.x, v.cluster.y, v.cluster.z}) h.word(d);
  h.word(u64{o.force_varying} | u64{o.force_its} << 1 | u64{o.fast_math} << 2 | u64{o.deferred_copies} << 3 |
         u64{v.dependent} << 4 | u64{v.asks} << 5 | u64{v.usual_space} << 6);
  return fmt::format("{:016x}{:016x}", h.a, h.b);
}

}  // namespace us::codegen
