// SPDX-License-Identifier: Apache-2.0
// The user's choices for a run, read once from UNDERSTUDY_* variables, which `understudy run` sets from its options.
#pragma once
#include <functional>
#include <span>
#include <string_view>

#include "base/passes.h"

namespace us {

// When asynchronous copies are delivered: device/copy/transfer.h.
enum class AsyncDelivery : u8 { Eager, Late, Random };
struct AsyncChoice {
  AsyncDelivery delivery = AsyncDelivery::Eager;
  u64 seed = 1;
};

struct Settings {
  std::string device = "h200";
  u32 devices = 0;
  u32 threads = 0;
  bool deterministic = false;
  u32 seed = 0;
  AsyncChoice async;
  std::string cpu;
  bool time_passes = false;
  std::string dump_after;
  PassSet disable_pass;
  bool verify_passes = false;
  bool verbose = false;
  bool quiet = false;
  bool count = false;
  std::string json;
  std::string record;
  std::string check, checks, check_kernels;
  u64 check_launch = 0;  // 0: all
  bool host_pages = false;
  std::string profile, profile_kernels;
  u64 profile_skip = 0, profile_count = ~u64{0};
  bool profile_virtual_time = false, profile_host_clock = false, profile_keep_caches = false;
  bool profile_no_what_ifs = false;
  bool fast_math = false;
  std::string cache_dir;  // empty: no cache
  std::string static_runtime, nvrtc, nvjitlink, nvfatbin;
  std::string ptxas;
  bool no_newer_ptx = false;
  bool stock_tools = false;
};

enum class SettingKind : u8 { Text, Flag, Count, Number, Math, Kernels, Async, Directory, Pass, PassList };

struct SettingRow {
  const char* field;
  SettingKind kind;
  const char* variable;
  const char* option;
  const char* argument;
  const char* help;
};
std::span<const SettingRow> setting_rows();
inline constexpr u32 kMostCount = 4096;  // of a setting of kind Count

std::vector<Diag> cannot_write(const Settings&);  // the places it names for results that cannot be written

using Lookup = std::function<const char*(const char* variable)>;  // like getenv
Result<Settings> read_settings(const Lookup& = ::getenv);
// One of kind Text or Directory as it was given, where it is wanted before or without the others; empty: not given.
std::string setting_text(std::string_view field, const Lookup& = ::getenv);
std::string default_cache_dir(
    const Lookup& = ::getenv);  // ${XDG_CACHE_HOME:-~/.cache}/understudy; empty without a home

// UNDERSTUDY_* variables in `environment` (NAME=value) that are no setting: misspelt ones.
std::vector<std::string> unknown_settings(const char* const* environment);

}  // namespace us
