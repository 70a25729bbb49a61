// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "base/settings.h"
#include "base/version.h"
#include "driver/preset.h"
#include "tools/exit_codes.h"
#include "tools/host.h"
#include "tools/run.h"
#include "tools/terminal.h"

namespace us::tools {
namespace {

using driver::Attribute;
using driver::Origin;
using driver::Preset;
using driver::Quantity;

struct Installation {
  std::string runtime, driver, fft, nvrtc, cache;
  bool complete;
  DirectorySize cache_size;
};

Installation look(const Settings& s) {
  const std::string lib = library_directory();
  const auto optional = [&](const char* name) {
    const std::string file = lib + "/" + name;
    return std::filesystem::exists(file) ? file : "not built: the CUDA toolkit's would be loaded";
  };
  Installation i{lib + "/libcudart.so.13",   lib + "/libcuda.so.1", optional("libcufft.so.12"),
                 optional("libnvrtc.so.13"), s.cache_dir,           false,
                 measure(s.cache_dir)};
  i.complete = std::filesystem::exists(i.runtime) && std::filesystem::exists(i.driver);
  return i;
}

void line(std::string_view name, std::string_view value) { fmt::print("  {:<26} {}\n", name, value); }

// A value whose origin is not the device or its documents is marked.
std::string mark(const driver::Fact& f, std::string text) {
  return f.origin == Origin::Estimated || f.origin == Origin::Assumed ? fmt::format("{} ({})", text, to_text(f.origin))
                                                                      : text;
}

void print_device(const Preset& p) {
  const auto number = [&](Attribute a) { return mark(p.fact(a), std::to_string(p[a])); };
  const auto bytes = [&](auto what) { return mark(p.fact(what), readable_bytes(static_cast<u64>(p[what]))); };
  const auto mhz = [&](Attribute a) { return mark(p.fact(a), fmt::format("{} MHz", p[a] / 1000)); };
  const double peak =
      2e3 * static_cast<double>(p[Attribute::MEMORY_CLOCK_RATE] * p[Attribute::GLOBAL_MEMORY_BUS_WIDTH] / 8) / 1e9;
  fmt::print("{}  (--device {})\n", styled(stdout, Style::Bold, p.name), p.id);
  line("compute capability",
       fmt::format("{}.{}", p[Attribute::COMPUTE_CAPABILITY_MAJOR], p[Attribute::COMPUTE_CAPABILITY_MINOR]));
  line("multiprocessors", number(Attribute::MULTIPROCESSOR_COUNT));
  line("SM clock", mhz(Attribute::CLOCK_RATE));
  line("memory", bytes(Quantity::TotalMemory));
  line("memory throughput", fmt::format("{:.0f} GB/s, {} bit", peak, p[Attribute::GLOBAL_MEMORY_BUS_WIDTH]));
  line("L2 cache", bytes(Attribute::L2_CACHE_SIZE));
  line("shared memory per SM", bytes(Attribute::MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
  line("shared memory per block", fmt::format("{}, opt-in {}", bytes(Attribute::MAX_SHARED_MEMORY_PER_BLOCK),
                                              bytes(Attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)));
  line("shared memory carveouts", fmt::format("{} KB", fmt::join(p.carveouts_kb, ", ")));
  line("registers per SM", number(Attribute::MAX_REGISTERS_PER_MULTIPROCESSOR));
  line("threads, blocks per SM", fmt::format("{}, {}", number(Attribute::MAX_THREADS_PER_MULTIPROCESSOR),
                                             number(Attribute::MAX_BLOCKS_PER_MULTIPROCESSOR)));
  line("largest cluster",
       fmt::format("{}, non-portable {}", p[Quantity::MaxClusterPortable], p[Quantity::MaxClusterNonPortable]));
  line("memory sync domains", number(Attribute::MEM_SYNC_DOMAIN_COUNT));
}

void print_rest(const Settings& s) {
  const Installation i = look(s);
  std::vector<std::string> ids;
  for (const Preset& p : driver::presets()) ids.emplace_back(p.id);
  fmt::print("\n{}\n", styled(stdout, Style::Bold, "host"));
  line("processor", cpu_name());
  line("cores", std::to_string(cores()));
  line("vectors", vector_extension());
  line("memory", readable_bytes(memory_bytes()));
  fmt::print("\n{} {}\n", styled(stdout, Style::Bold, "understudy"), kVersionText);
  line("CUDA", "13.0");
  line("devices", fmt::format("{}", fmt::join(ids, ", ")));
  line("runtime library", i.runtime);
  line("driver library", i.driver);
  line("cuFFT library", i.fft);
  line("NVRTC library", i.nvrtc);
  if (!i.complete) line("", styled(stdout, Style::Red, "not there: build understudy first"));
  line("cache", i.cache.empty() ? "none"
                                : fmt::format("{} ({} files, {})", i.cache, i.cache_size.files,
                                              readable_bytes(i.cache_size.bytes)));
}

void write_fact(JsonWriter& json, const char* name, const driver::Fact& f) {
  json.key(name).object().field("value", f.value).field("origin", to_text(f.origin)).end();
}

void write_device(JsonWriter& json, const Preset& p) {
  json.object().field("id", p.id).field("name", p.name).key("attributes").object();
  for (const auto& row : driver::attribute_rows()) write_fact(json, row.name, p.fact(row.attribute));
  json.end().key("quantities").object();
  for (const auto& row : driver::quantity_rows()) write_fact(json, row.name, p.fact(row.quantity));
  json.end().key("carveouts_kb").array();
  for (const u32 kb : p.carveouts_kb) json.value(kb);
  json.end().end();
}

void print_json(const std::vector<const Preset*>& devices, const Settings& s) {
  const Installation i = look(s);
  JsonWriter json;
  json.object().field("version", kVersionText).field("cuda", "13.0").key("devices").array();
  for (const Preset* p : devices) write_device(json, *p);
  json.end().key("host").object().field("processor", cpu_name()).field("cores", cores());
  json.field("vectors", vector_extension()).field("memory", memory_bytes()).end();
  json.key("libraries")
      .object()
      .field("runtime", i.runtime)
      .field("driver", i.driver)
      .field("complete", i.complete)
      .end();
  json.key("cache")
      .object()
      .field("directory", i.cache)
      .field("files", i.cache_size.files)
      .field("bytes", i.cache_size.bytes)
      .end();
  fmt::print("{}", json.end().text());
}

}  // namespace

int show_info(const std::string& devices, bool json) {
  const auto settings = read_settings();
  if (!settings) return complain(settings.diags()), kExitUsage;
  const bool named = !devices.empty();
  const auto found = driver::find_presets(named ? devices : settings->device, named ? 0 : settings->devices);
  if (!found) return complain(found.diags()), kExitUsage;
  if (json) return print_json(*found, *settings), 0;
  for (const Preset* p : *found) print_device(*p);
  print_rest(*settings);
  return 0;
}

}  // namespace us::tools
