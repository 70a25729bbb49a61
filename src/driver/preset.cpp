// SPDX-License-Identifier: Apache-2.0
#include "driver/preset.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace us::driver {
namespace {

// Rows of a preset file, as statements on `p`; kOrigin is the origin of its plain rows.
#define US_PRESET_NAME(text) p.name = text;
#define US_VALUE(attribute, v) p.set(Attribute::attribute) = Fact{v, kOrigin};
#define US_ESTIMATE(attribute, v) p.set(Attribute::attribute) = Fact{v, Origin::Estimated};
#define US_QUANTITY(quantity, v) p.set(Quantity::quantity) = Fact{v, kOrigin};
#define US_QUANTITY_ESTIMATE(quantity, v) p.set(Quantity::quantity) = Fact{v, Origin::Estimated};
#define US_CARVEOUTS(...) p.carveouts_kb = {__VA_ARGS__};

#define US_PRESET(name, origin)              \
  {                                          \
    constexpr auto kOrigin = Origin::origin; \
    Preset& p = all.emplace_back();          \
    p.id = #name;
#define US_PRESET_END }

std::vector<Preset> make_presets() {
  std::vector<Preset> all;
#include "driver/presets/presets.inc"
  for (Preset& p : all) p.assume(all.front());
  return all;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

void Preset::assume(const Preset& other) {
  const auto fill = [](auto& mine, const auto& theirs) {
    for (std::size_t i = 0; i < mine.size(); ++i)
      if (mine[i].origin == Origin::None) mine[i] = Fact{theirs[i].value, Origin::Assumed};
  };
  fill(attributes_, other.attributes_);
  fill(quantities_, other.quantities_);
}

std::span<const Preset> presets() {
  static const auto* const all = new std::vector<Preset>(make_presets());  // also there while the process ends
  return *all;
}

const Preset* find_preset(std::string_view id) {
  for (const Preset& p : presets())
    if (same_word(p.id, id)) return &p;
  return nullptr;
}

Result<std::vector<const Preset*>> find_presets(std::string_view list, u32 count) {
  std::vector<const Preset*> out;
  std::vector<Diag> wrong;
  while (true) {
    const std::size_t comma = list.find(',');
    const std::string_view id = list.substr(0, comma);
    out.push_back(find_preset(id));
    if (!out.back()) {
      std::vector<std::string_view> known;
      for (const Preset& p : presets()) known.push_back(p.id);
      wrong.push_back(
          {Diag::Kind::Error, {}, fmt::format("unknown device `{}`: expected one of {}", id, fmt::join(known, ", "))});
    }
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  if (!wrong.empty()) return wrong;
  const std::size_t named = out.size();
  if (std::max<std::size_t>(named, count) > kMostDevices)
    return Diag{
        Diag::Kind::Error,
        {},
        fmt::format("{} virtual GPUs: at most {} are possible", std::max<std::size_t>(named, count), kMostDevices)};
  if (count) out.resize(count);
  for (std::size_t i = named; i < out.size(); ++i) out[i] = out[i % named];
  return out;
}

DeviceSpec spec_of(const Preset& p) {
  const auto small = [&](auto what) { return static_cast<u32>(p[what]); };
  const auto large = [&](auto what) { return static_cast<u64>(p[what]); };
  DeviceSpec s;
  s.name = p.name;
  s.cc_major = small(Attribute::COMPUTE_CAPABILITY_MAJOR);
  s.cc_minor = small(Attribute::COMPUTE_CAPABILITY_MINOR);
  s.sms = small(Attribute::MULTIPROCESSOR_COUNT);
  s.total_memory = large(Quantity::TotalMemory);
  s.context_memory = large(Quantity::TotalMemory) - large(Quantity::FreeMemoryAtStart);
  s.max_threads_per_block = small(Attribute::MAX_THREADS_PER_BLOCK);
  for (u32 d = 0; d < 3; ++d) {
    s.max_block[d] = small(static_cast<Attribute>(static_cast<u32>(Attribute::MAX_BLOCK_DIM_X) + d));
    s.max_grid[d] = small(static_cast<Attribute>(static_cast<u32>(Attribute::MAX_GRID_DIM_X) + d));
  }
  s.shared_per_block = small(Attribute::MAX_SHARED_MEMORY_PER_BLOCK);
  s.shared_per_block_optin = small(Attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  s.shared_per_sm = small(Attribute::MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  s.shared_reserved_per_block = small(Attribute::RESERVED_SHARED_MEMORY_PER_BLOCK);
  s.shared_carveouts_kb = p.carveouts_kb;
  s.regs_per_block = small(Attribute::MAX_REGISTERS_PER_BLOCK);
  s.regs_per_sm = small(Attribute::MAX_REGISTERS_PER_MULTIPROCESSOR);
  s.max_threads_per_sm = small(Attribute::MAX_THREADS_PER_MULTIPROCESSOR);
  s.max_blocks_per_sm = small(Attribute::MAX_BLOCKS_PER_MULTIPROCESSOR);
  s.warp_size = small(Attribute::WARP_SIZE);
  s.constant_memory = large(Attribute::TOTAL_CONSTANT_MEMORY);
  s.max_pitch = large(Attribute::MAX_PITCH);
  s.texture_alignment = small(Attribute::TEXTURE_ALIGNMENT);
  s.max_cluster_portable = small(Quantity::MaxClusterPortable);
  s.max_cluster = small(Quantity::MaxClusterNonPortable);
  s.stream_priority_least = static_cast<int>(p[Quantity::StreamPriorityLeast]);
  s.stream_priority_greatest = static_cast<int>(p[Quantity::StreamPriorityGreatest]);
  s.sm_clock_khz = small(Attribute::CLOCK_RATE);
  s.l2_bytes = large(Attribute::L2_CACHE_SIZE);
  s.max_persisting_l2 = large(Attribute::MAX_PERSISTING_L2_CACHE_SIZE);
  s.limit_stack = large(Quantity::LimitStackSize);
  s.limit_persisting_l2 = large(Quantity::LimitPersistingL2CacheSize);
  s.limit_printf_fifo = large(Quantity::LimitPrintfFifoSize);
  s.limit_malloc_heap = large(Quantity::LimitMallocHeapSize);
  return s;
}

std::span<const AttributeRow> attribute_rows() {
  static constexpr AttributeRow rows[] = {
#define US_ATTRIBUTE(number, name) {Attribute::name, #name},
#include "driver/presets/attributes.inc"
#undef US_ATTRIBUTE
  };
  return rows;
}

std::span<const QuantityRow> quantity_rows() {
  static constexpr QuantityRow rows[] = {
#define US_QUANTITY_ROW(name, unit) {Quantity::name, #name, unit},
#include "driver/presets/quantities.inc"
#undef US_QUANTITY_ROW
  };
  return rows;
}

const char* to_text(Origin o) {
  constexpr const char* texts[] = {"none", "measured", "documented", "estimated", "assumed"};
  return texts[static_cast<u32>(o)];
}

}  // namespace us::driver
