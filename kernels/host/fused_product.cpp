// SPDX-License-Identifier: BSD-3-Clause
// Slot tables, and the choice of the instruction set at run time.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/host/fused_product.hpp>

#include <hwy/targets.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace tansolve::detail {

template <class T>
SlotTables<T>::SlotTables(const CompressedMatrix<T>& matrix)
    : escape{CodingTable::no_escape, CodingTable::no_escape} {
  const auto& tables = matrix.parts().tables;
  if (tables.empty()) return;
  const std::size_t slots = traits(matrix.plan().coding).geometry.slots();
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const auto& [code, symbol_deltas, symbol_values] = tables[t];
    const bool has_delta = !symbol_deltas.empty(), has_value = !symbol_values.empty();
    // Slots that no symbol owns stand for symbol 0, which is never the escape.
    codes[t].assign(slots, 1u << 16);
    if (has_delta && has_value)
      pairs.assign(slots, {symbol_values[0], symbol_deltas[0]});
    else if (has_delta)
      deltas.assign(slots, symbol_deltas[0]);
    else
      values.assign(slots, symbol_values[0]);
    for (std::uint32_t s = 0; s < code.slots.size(); ++s) {
      for (std::uint32_t g = 0; g < code.slots[s]; ++g)
        codes[t][code.start[s] + g] = code.slots[s] << 16 | g;
      if (s == code.escape) continue;
      if (has_delta && has_value)
        pairs[code.start[s]] = {symbol_values[s], symbol_deltas[s]};
      else if (has_delta)
        deltas[code.start[s]] = symbol_deltas[s];
      else
        values[code.start[s]] = symbol_values[s];
    }
    if (code.escape == CodingTable::no_escape) continue;
    escape[t] = code.start[code.escape];
    escapes = true;
  }
  if (traits(matrix.plan().coding).geometry == byte_geometry) {
    pair_codes.resize(slots * slots);
    for (std::uint32_t high = 0; high < slots; ++high)
      for (std::uint32_t low = 0; low < slots; ++low) {
        const std::uint32_t b0 = codes[0][low] >> 16, g0 = codes[0][low] & 0xffff;
        const std::uint32_t b1 = codes[0][high] >> 16, g1 = codes[0][high] & 0xffff;
        pair_codes[high << 8 | low] = b0 * b1 << 24 | (g0 * b1 + g1) << 16 | g1 << 8 | g0;
      }
  }
}

namespace {

std::string isa_name(std::int64_t target) {
  std::string name = hwy::TargetName(target);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

template <class T>
std::vector<IsaKernels<T>> usable_kernels() {
  auto kernels = isa_kernels<T>();
  // The last is what the compiler may use anyway.
  std::erase_if(kernels, [&](const IsaKernels<T>& isa) {
    return isa.target != isa_kernels<T>().back().target && !(hwy::SupportedTargets() & isa.target);
  });
  return kernels;
}

}  // namespace

std::vector<std::string> supported_isas() {
  std::vector<std::string> names;
  for (const auto& isa : usable_kernels<double>()) names.push_back(isa_name(isa.target));
  return names;
}

template <class T>
FusedKernel<T> fused_kernel(Coding coding, bool escapes, std::string_view name) {
  const char* forced = std::getenv("TANSOLVE_ISA");
  if (name.empty() && forced != nullptr) name = forced;
  const auto kernels = usable_kernels<T>();
  const auto kernel = [&](const IsaKernels<T>& isa) {
    return (*isa.table)[static_cast<std::size_t>(coding)][escapes];
  };
  if (name.empty()) return kernel(kernels.front());
  if (name == "scalar") return kernel(kernels.back());
  std::string known;
  for (const auto& isa : kernels) {
    if (isa_name(isa.target) == name) return kernel(isa);
    known += isa_name(isa.target) + ", ";
  }
  throw Error(ErrorCode::invalid_argument, "instruction set \"" + std::string(name) +
                                               "\": unknown or not supported here; there are " +
                                               known +
                                               "and scalar, another name for the last of them");
}

template FusedKernel<double> fused_kernel(Coding, bool, std::string_view);
template FusedKernel<float> fused_kernel(Coding, bool, std::string_view);
template struct SlotTables<double>;
template struct SlotTables<float>;

}  // namespace tansolve::detail
