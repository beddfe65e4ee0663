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

}  // namespace tansolve::fuzz

#if TANSOLVE_LIBFUZZER

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tansolve::fuzz::feed({reinterpret_cast<const char*>(data), size});
  return 0;
}

/// Puts the seeds into the first folder that is named.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  for (int i = 1; i < *count; ++i) {
    const std::filesystem::path folder = (*arguments)[i];
    if (!std::filesystem::is_directory(folder)) continue;
    int number = 0;
    for (const std::string& seed : tansolve::fuzz::seeds())
      std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary) << seed;
    break;
  }
  return 0;
}

#else

namespace {

using Random = std::mt19937_64;

/// Numbers that checks are made for.
std::string interesting(Random& random) {
  constexpr std::uint64_t numbers[] = {
      0, 1, 0x7f, 0xff, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, ~0ull, 0x100000000};
  const std::uint64_t number = numbers[random() % std::size(numbers)];
  const std::size_t width = std::size_t{1} << random() % 4;
  return {reinterpret_cast<const char*>(&number), width};
}

void mutate(std::string& input, const std::vector<std::string>& seeds, Random& random) {
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
      const std::string& other = seeds[random() % seeds.size()];
      const std::size_t from = random() % (other.size() + 1);
      input.replace(at, length, other.substr(from, random() % 64));
    }
  }
}

}  // namespace

/// target [FILE...] feeds the files; without them the seeds and 4000 mutants of them.
int main(int count, char** arguments) {
  using namespace tansolve::fuzz;
  for (int i = 1; i < count; ++i) {
    std::ifstream file(arguments[i], std::ios::binary);
    feed(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  if (count > 1) return 0;
  const std::vector<std::string> all = seeds();
  for (const std::string& seed : all) feed(seed);
  Random random(1);
  for (int i = 0; i < 4000; ++i) {
    std::string input = all[random() % all.size()];
    for (std::uint64_t n = 1 + random() % 4; n > 0; --n) mutate(input, all, random);
    std::ofstream(std::string(arguments[0]) + "-last-input", std::ios::binary) << input;
    feed(input);
  }
  return 0;
}

#endif
