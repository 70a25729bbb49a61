// SPDX-License-Identifier: Apache-2.0
//   HEAD KEY
//   content
//   CHECKSUM       of all before
#include "driver/code/kept_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "base/hash.h"

namespace us::driver {
namespace {

constexpr off_t kMostBytes = 64 << 20;
constexpr std::size_t kSumBytes = 33;  // and the end of its line

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
  return fmt::format("{:016x}{:016x}\n", h.a, h.b);
}

bool write_all(int fd, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = write(fd, text.data() + at, text.size() - at);
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

bool read_all(int fd, std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = read(fd, text.data() + at, text.size() - at);
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

int KeptFiles::open_directory(bool make) const {
  if (dir_.empty()) return -1;
  const std::string path = dir_ + "/" + folder_;
  std::error_code ec;
  if (make) std::filesystem::create_directories(dir_, ec);
  if (make) mkdir(path.c_str(), 0700);
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat s;
  if (fd < 0 || only_mine(fd, S_IFDIR, s)) return fd;
  close(fd);
  return -1;
}

std::optional<std::string> KeptFiles::load(const std::string& key) const {
  const Fd dir{open_directory(false)};
  if (dir.fd < 0) return {};
  const Fd file{openat(dir.fd, key.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)};
  struct stat s;
  if (file.fd < 0 || !only_mine(file.fd, S_IFREG, s) || s.st_size > kMostBytes) return {};
  std::string text(static_cast<std::size_t>(s.st_size), '\0');
  if (!read_all(file.fd, text)) return {};
  const std::string head = fmt::format("{} {}\n", head_, key);
  if (text.size() < head.size() + kSumBytes || !text.starts_with(head)) return {};
  const std::string sum = text.substr(text.size() - kSumBytes);
  text.resize(text.size() - kSumBytes);
  if (sum != checksum(text)) return {};
  return text.substr(head.size());
}

void KeptFiles::store(const std::string& key, const std::string& content) const {
  const Fd dir{open_directory(true)};
  if (dir.fd < 0) return;
  std::string text = fmt::format("{} {}\n", head_, key) + content;
  text += checksum(text);
  if (text.size() > static_cast<std::size_t>(kMostBytes)) return;
  const std::string aside = fmt::format("{}.{}.tmp", key, getpid());
  {
    const Fd file{openat(dir.fd, aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
    if (file.fd < 0) return;
    if (!write_all(file.fd, text)) {
      unlinkat(dir.fd, aside.c_str(), 0);
      return;
    }
  }
  if (renameat(dir.fd, aside.c_str(), dir.fd, key.c_str()) != 0) unlinkat(dir.fd, aside.c_str(), 0);
}

}  // namespace us::driver
