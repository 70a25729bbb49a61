// SPDX-License-Identifier: Apache-2.0
#include "codegen/jit/object_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/hash.h"

namespace us::codegen {
namespace {

constexpr char kMagic[8] = {'u', 's', 'o', 'b', 'j', '0', '0', '4'};
constexpr std::size_t kKeyDigits = 32;

struct Header {
  char magic[8];
  char key[kKeyDigits];
  u32 yields, local_bytes, its, whole_cta, triggers, shares;
  u64 size;
  u64 check[2];  // of all fields above and of the object
};

Header header_of(const std::string& key, const ObjectCode& code) {
  Header h{};
  std::memcpy(h.magic, kMagic, sizeof h.magic);
  std::memcpy(h.key, key.data(), std::min(key.size(), kKeyDigits));
  h.yields = code.yields;
  h.local_bytes = code.local_bytes;
  h.its = code.its;
  h.whole_cta = code.whole_cta;
  h.triggers = code.triggers;
  h.shares = code.shares;
  h.size = code.elf.size();
  return h;
}

void sign(Header& h, const std::vector<u8>& elf) {
  Hash sum;
  sum.bytes(&h, offsetof(Header, check));
  sum.bytes(elf.data(), elf.size());
  h.check[0] = sum.a;
  h.check[1] = sum.b;
}

class File {  // closes itself
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  const int fd_;
};

bool own(const struct stat& s) { return s.st_uid == geteuid() && !(s.st_mode & (S_IWGRP | S_IWOTH)); }

bool read_all(int fd, void* to, std::size_t n) {
  for (u8* p = static_cast<u8*>(to); n;) {
    const ssize_t got = read(fd, p, n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    p += got;
    n -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(int fd, const void* from, std::size_t n) {
  for (const u8* p = static_cast<const u8*>(from); n;) {
    const ssize_t put = write(fd, p, n);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    p += put;
    n -= static_cast<std::size_t>(put);
  }
  return true;
}

std::string file_name(const std::string& key) { return key.substr(2) + ".uso"; }

std::string name_aside(const std::string& key) {
  u64 random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0) random = static_cast<u64>(getpid());
  return fmt::format("{}.{:016x}.tmp", key.substr(2), random);
}

}  // namespace

ObjectCache::ObjectCache(std::string dir, Told told) : dir_(std::move(dir)), told_(std::move(told)) {
  while (dir_.size() > 1 && dir_.back() == '/') dir_.pop_back();  // behind a slash a link would be followed
}

int ObjectCache::directory(int at, const std::string& name, bool create) const {
  if (create) mkdirat(at, name.c_str(), 0700);
  const int fd = openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat s;
  const char* why = nullptr;
  if (fd >= 0 && fstat(fd, &s) == 0 && own(s)) return fd;
  if (fd < 0)
    why = fstatat(at, name.c_str(), &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(s.st_mode) ? "it is a symbolic link"
                                                                                        : nullptr;
  else
    why = s.st_uid != geteuid() ? "it belongs to another user" : "others may write there";
  if (fd >= 0) close(fd);
  if (!why || refused_.exchange(true) || !told_) return -1;
  const std::string path = at == AT_FDCWD ? name : dir_ + "/" + name;
  told_(fmt::format("the cache of compiled code in {} is not used: {}", path, why));
  return -1;
}

int ObjectCache::shard(const std::string& key, bool create) const {
  if (!enabled() || key.size() != kKeyDigits) return -1;
  std::error_code ec;
  if (create) std::filesystem::create_directories(std::filesystem::path(dir_).parent_path(), ec);
  const File root(directory(AT_FDCWD, dir_, create));
  return root ? directory(root.get(), key.substr(0, 2), create) : -1;
}

bool ObjectCache::load(const std::string& key, ObjectCode* out) const {
  const File dir(shard(key, false));
  if (!dir) return false;
  const File f(openat(dir.get(), file_name(key).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat s;
  if (!f || fstat(f.get(), &s) != 0 || !S_ISREG(s.st_mode) || !own(s)) return false;
  Header h;
  if (!read_all(f.get(), &h, sizeof h) || std::memcmp(h.magic, kMagic, sizeof h.magic) != 0) return false;
  if (std::memcmp(h.key, key.data(), kKeyDigits) != 0) return false;
  if (h.size > u64{1} << 30 || static_cast<u64>(s.st_size) != sizeof h + h.size) return false;
  std::vector<u8> elf(h.size);
  if (!read_all(f.get(), elf.data(), elf.size())) return false;
  Header expected = h;
  sign(expected, elf);
  if (std::memcmp(h.check, expected.check, sizeof h.check) != 0) return false;
  out->elf = std::move(elf);
  out->yields = h.yields;
  out->local_bytes = h.local_bytes;
  out->its = h.its;
  out->whole_cta = h.whole_cta;
  out->triggers = h.triggers;
  out->shares = h.shares;
  return true;
}

void ObjectCache::store(const std::string& key, const ObjectCode& code) const {
  const File dir(shard(key, true));
  if (!dir) return;
  const std::string aside = name_aside(key);
  const File f(openat(dir.get(), aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!f) return;
  Header h = header_of(key, code);
  sign(h, code.elf);
  const bool ok = write_all(f.get(), &h, sizeof h) && write_all(f.get(), code.elf.data(), code.elf.size());
  if (!ok || renameat(dir.get(), aside.c_str(), dir.get(), file_name(key).c_str()) != 0)
    unlinkat(dir.get(), aside.c_str(), 0);
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
  CodeFacts(v, o).visit([&](u64 w) { h.word(w); });
  return fmt::format("{:016x}{:016x}", h.a, h.b);
}

}  // namespace us::codegen
