// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace us {
namespace {

bool allowed(const std::string& path, int what) { return ::faccessat(AT_FDCWD, path.c_str(), what, AT_EACCESS) == 0; }

}  // namespace

std::string why_no_files_in(const std::string& directory) {
  struct stat s = {};
  if (::stat(directory.c_str(), &s) != 0) return std::strerror(errno);
  if (!S_ISDIR(s.st_mode)) return std::strerror(ENOTDIR);
  return allowed(directory, W_OK | X_OK) ? std::string() : std::strerror(errno);
}

std::string why_no_file(const std::string& path) {
  struct stat s = {};
  if (::stat(path.c_str(), &s) == 0) {
    if (S_ISDIR(s.st_mode)) return std::strerror(EISDIR);
    return allowed(path, W_OK) ? std::string() : std::strerror(errno);
  }
  if (errno != ENOENT) return std::strerror(errno);
  const auto slash = path.find_last_of('/');
  if (slash + 1 == path.size()) return path.empty() ? std::strerror(ENOENT) : std::strerror(EISDIR);
  return why_no_files_in(slash == path.npos ? "." : path.substr(0, slash + 1));
}

std::string with_process(std::string path) {
  if (const auto at = path.find("%p"); at != path.npos) path.replace(at, 2, std::to_string(::getpid()));
  return path;
}

}  // namespace us
