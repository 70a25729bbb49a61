// SPDX-License-Identifier: Apache-2.0
// Reads PTX from the containers in which programs carry it: fat binaries, and the wrappers that point to them.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "ir/ir.h"

namespace us::ptx {

struct Target {
  u32 sm = 90;
  bool arch_specific = true;  // has the features of sm_90a
};

struct Image {
  std::string ptx;
  u32 arch = 0;                // 90
  bool arch_specific = false;  // sm_90a: runs on exactly that architecture
  std::string options;         // what its compiler was told to tell ptxas: " -maxrregcount=32 "
};

// What a pointer handed to an API points to, judged by its first bytes (one must be readable).
enum class Container : u8 { Text, FatBinary, Wrapper, Elf, Bundle };
Container container_of(const void*);

// Several PTX texts that load() links: what cuLinkComplete hands out. |magic u32|count u32| length u64, text |..
std::string make_bundle(std::span<const std::string> texts);

// A fat binary of one text and the machine code that an assembler made of it, which tells registers and stack.
// `target` as the text has it: "sm_90a".
std::string make_fat_binary(const std::string& ptx, const std::string& machine_code, std::string_view target);

// The PTX that suits the target best: the highest architecture not above the target's; of two equal ones the
// architecture-specific one. The second form knows no size but the readable memory's.
Result<Image> find_ptx(std::span<const u8> fatbin, Target);
Result<Image> find_ptx(const void* fatbin, Target);

// How long the fat binary is that begins here; 0: none does, or it is cut short.
u64 fat_binary_bytes(std::span<const u8>);
bool is_damaged(const void* image);           // a fat binary whose entries do not fit in it
bool has_lto_ir(std::span<const u8> fatbin);  // link-time code, of whatever architecture

// Everything a wrapper refers to: one fat binary (version 1), or a list of them (version 2, relocatable device code).
// In a list, fat binaries without PTX are left out as long as there is any PTX; their number goes to `skipped`.
Result<std::vector<Image>> find_all_ptx(const void* wrapper, Target, u32* skipped = nullptr);

// All PTX that an image of any kind holds for the target, and the module it makes: parsed and linked.
Result<std::vector<Image>> find_images(const void* image, Target);
Result<std::unique_ptr<ir::Module>> load(const std::vector<Image>&, const std::string& name);
Result<std::unique_ptr<ir::Module>> load(const void* image, Target, const std::string& name);

// Machine code that would run on the target, the most fitting of each fat binary: ELF files, of a whole program or to
// be linked. What does not decompress is left out.
std::vector<std::string> find_machine_code(const void* image, Target);

// True if the failure is that there is no code for the target (rather than a damaged container or wrong PTX).
bool is_no_ptx(const std::vector<Diag>&);

}  // namespace us::ptx
