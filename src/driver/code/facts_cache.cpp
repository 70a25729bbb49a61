// SPDX-License-Identifier: Apache-2.0
//   understudy-facts 1 KEY
//   sm PTX's-sm constant-bytes kernels
//   NAME registers frame stack shared max-threads      one line each
//   CHECKSUM                                           of all before
#include "driver/code/facts_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "base/hash.h"

namespace us::driver {
namespace {

constexpr const char* kHead = "understudy-facts 1";
constexpr off_t kMostBytes = 16 << 20;

struct Fd {
  int fd;
  ~Fd() {
    if (fd >= 0) close(fd);
  }
};

bool only_mine(int fd, mode_t kind, struct stat& s) {
  return fstat(fd, &s) == 0 && (s.st_mode & S_IFMT) == kind && s.st_uid == geteuid() && !(s.st_mode & 022);
}

std::string checksum(const std::string& text) {
  Hash h;
  h.text(text);
  return fmt::format("{:016x}{:016x}", h.a, h.b);
}

std::string to_text(const std::string& key, const sass::Cubin& c) {
  std::string out = fmt::format("{} {}\n{} {} {} {}\n", kHead, key, c.sm, c.ptx_sm, c.constant_bytes, c.kernels.size());
  for (const sass::KernelFacts& k : c.kernels)
    out += fmt::format("{} {} {} {} {} {}\n", k.name, k.registers, k.frame_bytes, k.stack_bytes, k.shared_bytes,
                       k.max_threads);
  return out + checksum(out) + "\n";
}

std::optional<sass::Cubin> from_text(const std::string& key, const std::string& text) {
  const std::size_t sum = text.size() < 34 ? 0 : text.size() - 33;
  if (!text.starts_with(fmt::format("{} {}\n", kHead, key)) || text.substr(sum) != checksum(text.substr(0, sum)) + "\n")
    return {};
  std::istringstream in(text.substr(text.find('\n'), sum));
  sass::Cubin c;
  std::size_t kernels = 0;
  in >> c.sm >> c.ptx_sm >> c.constant_bytes >> kernels;
  for (sass::KernelFacts k;
       kernels && in >> k.name >> k.registers >> k.frame_bytes >> k.stack_bytes >> k.shared_bytes >> k.max_threads;
       --kernels)
    c.kernels.push_back(k);
  if (!in || kernels) return {};
  return c;
}

bool write_all(int fd, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = write(fd, text.data() + at, text.size() - at);
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

int FactsCache::open_directory(bool make) const {
  if (dir_.empty()) return -1;
  const std::string path = dir_ + "/facts";
  std::error_code ec;
  if (make) std::filesystem::create_directories(dir_, ec);
  if (make) mkdir(path.c_str(), 0700);
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat s;
  if (fd < 0 || only_mine(fd, S_IFDIR, s)) return fd;
  close(fd);
  return -1;
}

std::optional<sass::Cubin> FactsCache::load(const std::string& key) const {
  const Fd dir{open_directory(false)};
  if (dir.fd < 0) return {};
  const Fd file{openat(dir.fd, key.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)};
  struct stat s;
  if (file.fd < 0 || !only_mine(file.fd, S_IFREG, s) || s.st_size > kMostBytes) return {};
  std::string text(static_cast<std::size_t>(s.st_size), '\0');
  if (read(file.fd, text.data(), text.size()) != s.st_size) return {};
  return from_text(key, text);
}

void FactsCache::store(const std::string& key, const sass::Cubin& c) const {
  const Fd dir{open_directory(true)};
  if (dir.fd < 0) return;
  const std::string aside = fmt::format("{}.{}.tmp", key, getpid());
  {
    const Fd file{openat(dir.fd, aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
    if (file.fd < 0) return;
    if (!write_all(file.fd, to_text(key, c))) {
      unlinkat(dir.fd, aside.c_str(), 0);
      return;
    }
  }
  if (renameat(dir.fd, aside.c_str(), dir.fd, key.c_str()) != 0) unlinkat(dir.fd, aside.c_str(), 0);
}

}  // namespace us::driver
