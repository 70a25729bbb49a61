// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "timing/launch_profile.h"

namespace us::tools {
namespace {

constexpr std::chrono::seconds kFirst{2}, kEach{1};
constexpr const char* kClear = "\r\x1b[K";

}  // namespace

Progress::Progress(std::string directory) : directory_(std::move(directory)) {
  if (::isatty(::fileno(stderr)) != 0) thread_ = std::thread([this] { run(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard held(m_);
    ends_ = true;
  }
  wake_.notify_one();
  thread_.join();
  if (told_) std::fputs(kClear, stderr);
}

void Progress::run() {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock held(m_);
  while (!wake_.wait_for(held, told_ ? kEach : kFirst, [this] { return ends_; })) {
    look();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
    fmt::print(stderr, "{}understudy profile: {} s, {} launches\r", kClear, seconds.count(), launches_);
    std::fflush(stderr);
    told_ = true;
  }
}

void Progress::look() {
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(directory_, error)) {
    if (file.path().extension() != ".profile") continue;
    u64& at = read_[file.path().string()];
    std::ifstream in(file.path(), std::ios::binary);
    u32 size = 0;
    for (char kind = 0; in.seekg(static_cast<std::streamoff>(at)) &&
                        in.read(reinterpret_cast<char*>(&size), sizeof size) && size && in.get(kind);) {
      launches_ += timing::is_launch(static_cast<u8>(kind));
      at += sizeof size + size;
    }
  }
}

}  // namespace us::tools
