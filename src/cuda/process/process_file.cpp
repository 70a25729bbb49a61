// SPDX-License-Identifier: Apache-2.0
#include "cuda/process/process_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace us::cuda {

ProcessFile::ProcessFile(std::string directory, std::string kind)
    : directory_(std::move(directory)), kind_(std::move(kind)) {
  open();
}

void ProcessFile::open() {
  if (fd_ >= 0) ::close(fd_);
  const std::string path = fmt::format("{}/{}.{}", directory_, ::getpid(), kind_);
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (fd_ < 0) fmt::print(stderr, "understudy: {}: {}\n", path, std::strerror(errno));
}

void ProcessFile::write(std::string_view record) const {
  while (fd_ >= 0 && !record.empty()) {
    const ssize_t n = ::write(fd_, record.data(), record.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    record.remove_prefix(static_cast<size_t>(n));
  }
}

std::string program_path() {
  char path[4096];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  return n > 0 ? std::string(path, static_cast<size_t>(n)) : "?";
}

}  // namespace us::cuda
