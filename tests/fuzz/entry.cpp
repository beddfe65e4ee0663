// SPDX-License-Identifier: BSD-3-Clause
// Runs a target: under libFuzzer, or by its own mutations, always the same ones, where there is
// none.
#include "fuzz/fuzz.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <random>

// Every form, since the sanitizers have each of their own.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return bytes > tansolve::fuzz::most_bytes ? nullptr
                                            : std::malloc(std::max<std::size_t>(bytes, 1));
}
void* operator new(std::size_t bytes) {
  if (void* memory = operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t bytes) {
  return operator new(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return operator new(bytes, std::nothrow);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace tansolve::fuzz {

void finding(const std::string& what) {
  std::fprintf(stderr, "finding: %s\n", what.c_str());
  std::abort();
}

namespace {

/// Every seed is taken by its reader, as it is and put together from its parts.
void check_seeds(const std::vector<Seed>& seeds) {
  for (std::size_t k = 0; k < seeds.size(); ++k)
    for (const std::string& input : {seeds[k].bytes, target.joined(target.split(seeds[k].bytes))}) {
      const auto takers = target.feed(input);
      if (std::ranges::find(takers, seeds[k].reader) == takers.end())
        finding("seed " + std::to_string(k) + " is refused by " + std::string(seeds[k].reader));
    }
}

}  // namespace
}  // namespace tansolve::fuzz

#if TANSOLVE_LIBFUZZER

using tansolve::fuzz::Parts;
using tansolve::fuzz::target;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

/// Into the room of libFuzzer; 0, which it ignores, where that is too small.
std::size_t give(const std::string& input, std::uint8_t* data, std::size_t most) {
  if (input.size() > most) return 0;
  std::copy(input.begin(), input.end(), data);
  return input.size();
}

std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  target.feed(view(data, size));
  return 0;
}

/// Half of the time one of the parts, else the bytes as they are.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  Parts parts = target.split(view(data, size));
  if (parts.size() == 1 || seed % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  std::string& part = parts[seed / 2 % parts.size()];
  const std::size_t before = part.size();
  part.resize(before + std::min<std::size_t>(most - size, 64));
  if (part.empty()) return LLVMFuzzerMutate(data, size, most);
  part.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(part.data()), before, part.size()));
  return give(target.joined(parts), data, most);
}

/// A part of the second in the place of the first's.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second,
                                                 std::size_t second_size, std::uint8_t* out,
                                                 std::size_t most, unsigned seed) {
  Parts parts = target.split(view(first, first_size));
  const Parts others = target.split(view(second, second_size));
  const std::size_t part = seed % std::min(parts.size(), others.size());
  parts[part] = others[part];
  return give(target.joined(parts), out, most);
}

/// Puts the seeds into the first folder that is named.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  for (int i = 1; i < *count; ++i) {
    const std::filesystem::path folder = (*arguments)[i];
    if (!std::filesystem::is_directory(folder)) continue;
    int number = 0;
    const auto seeds = target.seeds();
    tansolve::fuzz::check_seeds(seeds);
    for (const auto& seed : seeds)
      std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary) << seed.bytes;
    break;
  }
  return 0;
}

#else

namespace {

using namespace tansolve::fuzz;
using Random = std::mt19937_64;

/// Numbers that checks are made for.
std::string interesting(Random& random) {
  constexpr std::uint64_t numbers[] = {
      0, 1, 0x7f, 0xff, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, ~0ull, 0x100000000};
  const std::uint64_t number = numbers[random() % std::size(numbers)];
  const std::size_t width = std::size_t{1} << random() % 4;
  return {reinterpret_cast<const char*>(&number), width};
}

/// With pieces of `other` at times.
void mutate(std::string& input, const std::string& other, Random& random) {
  const std::size_t at = random() % (input.size() + 1), left = input.size() - at;
  const std::size_t length = std::min<std::size_t>(left, random() % 16);
  switch (random() % 7) {
    case 0:
      if (left > 0) input[at] = static_cast<char>(input[at] ^ 1 << random() % 8);
      break;
    case 1:
      input.replace(at, length, interesting(random));
      break;
    case 2: {
      const std::string number = interesting(random);
      input.replace(at, std::min(left, number.size()), number);
      break;
    }
    case 3:
      input.erase(at, length);
      break;
    case 4:
      input.insert(random() % (input.size() + 1), input.substr(at, length));
      break;
    case 5:
      input.resize(at);
      break;
    default: {
      const std::size_t from = random() % (other.size() + 1);
      input.replace(at, length, other.substr(from, random() % 64));
    }
  }
}

std::string mutant(const std::vector<Seed>& seeds, Random& random) {
  std::string input = seeds[random() % seeds.size()].bytes;
  const std::string& other = seeds[random() % seeds.size()].bytes;
  for (std::uint64_t n = 1 + random() % 4; n > 0; --n) {
    if (random() % 2 == 0) {
      mutate(input, other, random);
      continue;
    }
    Parts parts = target.split(input);
    mutate(parts[random() % parts.size()], other, random);
    input = target.joined(parts);
  }
  return input;
}

}  // namespace

/// target [FILE...] feeds the files; without them the seeds and 4000 mutants of them.
int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    std::ifstream file(arguments[i], std::ios::binary);
    target.feed(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  if (count > 1) return 0;
  const std::vector<Seed> seeds = target.seeds();
  check_seeds(seeds);
  Random random(1);
  for (int i = 0; i < 4000; ++i) {
    const std::string input = mutant(seeds, random);
    std::ofstream(std::string(arguments[0]) + "-last-input", std::ios::binary) << input;
    target.feed(input);
  }
  return 0;
}

#endif
