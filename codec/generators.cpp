// SPDX-License-Identifier: BSD-3-Clause
// The table of generators, which drives parsing, range checks and help.
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/files.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/codec/generators/arguments.hpp>
#include <tansolve/codec/generators/families.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tansolve {
namespace {

using detail::Arguments;
using detail::Kind;
using detail::Parameter;
using detail::RowRule;

constexpr std::int64_t max_rows = std::numeric_limits<std::int32_t>::max();

struct Generator {
  std::string_view name;
  std::array<Parameter, 4> list;  // the rest of it is nameless
  std::string_view summary;
  /// The matrix, or where its rows do not depend on each other a rule for them.
  std::variant<Csr<double> (*)(const Arguments&, const GeneratorOptions&),
               RowRule (*)(const Arguments&, const GeneratorOptions&)>
      make;

  bool is_rule() const { return make.index() == 1; }
  std::span<const Parameter> parameters() const {
    return {list.begin(), std::ranges::find(list, std::string_view(), &Parameter::name)};
  }
};

/// The file of a name: itself, or with the extension of a format that read_matrix knows.
std::filesystem::path find_matrix(const std::string& name, const std::filesystem::path& folder) {
  if (folder.empty())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("generator for copies of '{}': no folder of matrices was given", name));
  constexpr std::array extensions = {"",     ".mtx", ".rb",  ".rsa", ".rua", ".rra",
                                     ".psa", ".pua", ".csa", ".cua", ".hb"};
  for (const char* extension : extensions)
    for (const char* compression : {"", ".gz"}) {
      std::filesystem::path path = folder / (name + extension + compression);
      if (std::filesystem::is_regular_file(path)) return path;
    }
  throw Error(ErrorCode::io,
              fmt::format("no file '{}' in '{}', neither by that name nor with {} and perhaps .gz "
                          "appended",
                          name, folder.string(),
                          fmt::join(extensions.begin() + 1, extensions.end(), ", ")));
}

Csr<double> tile(const Arguments& arguments, const GeneratorOptions& options, bool scaled) {
  const Csr<double> matrix = read_matrix(find_matrix(arguments.text(1), options.matrices));
  const std::int64_t larger = std::max<std::int64_t>({matrix.rows(), matrix.cols(), 1});
  arguments.require(arguments.count(0) <= max_rows / larger, 0,
                    fmt::format("at most {}, so that the {} x {} matrix has at most {} rows and "
                                "columns",
                                max_rows / larger, matrix.rows(), matrix.cols(), max_rows));
  return detail::tile(matrix, arguments.count(0), scaled, options.seed);
}

Csr<double> erdos_renyi(const Arguments& a, const GeneratorOptions& o) {
  a.require(a.count(1) <= a.count(0) - 2, 1, "at most N - 2");
  return detail::erdos_renyi(a.count(0), a.count(1), o.seed);
}

Csr<double> watts_strogatz(const Arguments& a, const GeneratorOptions& o) {
  a.require(a.count(1) % 2 == 0 && a.count(1) <= a.count(0) / 2, 1, "even and at most N / 2");
  return detail::watts_strogatz(a.count(0), a.count(1), o.seed);
}

Csr<double> barabasi_albert(const Arguments& a, const GeneratorOptions& o) {
  a.require(a.count(1) % 2 == 0 && a.count(1) < a.count(0), 1, "even and less than N");
  return detail::barabasi_albert(a.count(0), a.count(1), o.seed);
}

RowRule heisenberg(const Arguments& a, const GeneratorOptions&) {
  a.require(a.count(0) % 2 == 0, 0, "even");
  return detail::heisenberg(a.count(0));
}

RowRule band(const Arguments& a, const GeneratorOptions& o) {
  a.require(a.count(1) <= std::min(a.count(0), a.count(2) + 1), 1, "at most N and WIDTH + 1");
  return detail::band(a.count(0), a.count(1), a.count(2), a.count(3), o.seed);
}

// clang-format off
constexpr Parameter plane = {"NX", Kind::plane, 1, max_rows};
constexpr Parameter space = {"N", Kind::space, 1, max_rows};
constexpr Parameter blocks = {"N", Kind::space, 1, max_rows / 3};
constexpr Parameter jump = {"JUMP", Kind::real, 1, 1'000'000'000'000, 1000.0};
constexpr Parameter sites = {"L", Kind::count, 4, 32};
constexpr Parameter rows = {"N", Kind::count, 1, max_rows};
constexpr Parameter per_row = {"PER_ROW", Kind::count, 1, max_rows};
constexpr Parameter width = {"WIDTH", Kind::count, 0, max_rows};
constexpr Parameter distinct = {"VALUES", Kind::count, 0, max_rows};
constexpr Parameter degree = {"DEG", Kind::count, 1, max_rows};
constexpr Parameter scale = {"SCALE", Kind::count, 1, 30};
constexpr Parameter copies = {"COPIES", Kind::count, 1, max_rows};
constexpr Parameter file = {"NAME", Kind::text};

using In = const Arguments&;
using Options = const GeneratorOptions&;

constexpr Generator generators[] = {
    {"poisson5", {plane}, "5-point Laplacian of a plane grid",
     [](In a, Options) { return detail::poisson5(a.grid(0)); }},
    {"poisson7", {space}, "7-point Laplacian",
     [](In a, Options) { return detail::poisson7(a.grid(0)); }},
    {"poisson27", {space}, "27 points: 26 and -1, the matrix of HPCG",
     [](In a, Options) { return detail::poisson27(a.grid(0)); }},
    {"varcoef7", {space, jump}, "7-point diffusion, cell coefficients log-uniform in [1, JUMP]",
     [](In a, Options o) { return detail::varcoef7(a.grid(0), a.real(1), o.seed); }},
    {"convdiff7", {space}, "7-point upwind convection and diffusion, nonsymmetric",
     [](In a, Options) { return detail::convdiff7(a.grid(0)); }},
    {"fem3", {blocks}, "linear elasticity: 27 neighbours, 3 unknowns a point, few values",
     [](In a, Options) { return detail::fem3(a.grid(0)); }},
    {"fem3u", {blocks}, "the pattern of fem3, all values standard normal",
     [](In a, Options o) { return detail::fem3u(a.grid(0), o.seed); }},
    {"heisenberg", {sites}, "periodic chain of L (even) spins 1/2, zero magnetisation", heisenberg},
    {"band", {rows, per_row, width, distinct},
     "the diagonal and PER_ROW - 1 columns within WIDTH; VALUES normal values, 0: all different",
     band},
    {"er", {rows, degree}, "Erdos-Renyi graph, mean degree DEG", erdos_renyi},
    {"ws", {rows, degree}, "Watts-Strogatz graph, rewired with probability 0.1", watts_strogatz},
    {"ba", {rows, degree}, "Barabasi-Albert graph, DEG / 2 edges a new vertex", barabasi_albert},
    {"rmat", {scale, degree}, "R-MAT graph: 2^SCALE vertices, DEG 2^SCALE edges, repeats merged",
     [](In a, Options o) { return detail::rmat(a.count(0), a.count(1), o.seed); }},
    {"laplacian:er", {rows, degree}, "graph Laplacian of er",
     [](In a, Options o) { return detail::laplacian(erdos_renyi(a, o)); }},
    {"laplacian:ws", {rows, degree}, "graph Laplacian of ws",
     [](In a, Options o) { return detail::laplacian(watts_strogatz(a, o)); }},
    {"laplacian:ba", {rows, degree}, "graph Laplacian of ba",
     [](In a, Options o) { return detail::laplacian(barabasi_albert(a, o)); }},
    {"tile", {copies, file}, "copies of a file along the diagonal",
     [](In a, Options o) { return tile(a, o, false); }},
    {"tiles", {copies, file}, "the same, each copy times its own random factor in [1, 2)",
     [](In a, Options o) { return tile(a, o, true); }},
};
// clang-format on

std::string form(const Generator& generator) {
  std::string text(generator.name);
  for (const Parameter& parameter : generator.parameters())
    text += parameter.when_omitted ? fmt::format("[:{}]", written(parameter))
                                   : fmt::format(":{}", written(parameter));
  return text;
}

/// The generator whose name, up to a colon or the end, begins the specification.
const Generator& find_generator(std::string_view specification) {
  std::vector<std::string_view> names;
  for (const Generator& generator : generators) {
    const std::size_t length = generator.name.size();
    if (specification.starts_with(generator.name) &&
        (specification.size() == length || specification[length] == ':'))
      return generator;
    names.push_back(generator.name);
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("generator '{}': unknown; it must be one of {}", specification,
                          fmt::join(names, ", ")));
}

/// Takes a trailing @SEED off the specification.
std::optional<std::uint64_t> take_seed(std::string_view& specification) {
  const std::size_t at = specification.rfind('@');
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = specification.substr(at + 1);
  const auto seed = detail::parse_number<std::uint64_t>(digits);
  if (!seed)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("generator '{}': the seed is '{}', it must be an integer in [0, 2^64)",
                            specification, digits));
  specification = specification.substr(0, at);
  return seed;
}

/// Sets the calling thread's number of OpenMP threads and puts it back.
class ThreadCount {
 public:
  explicit ThreadCount(int threads) : before_(omp_get_max_threads()) {
    if (threads > 0) omp_set_num_threads(threads);
  }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;
  ~ThreadCount() { omp_set_num_threads(before_); }

 private:
  int before_;
};

/// What use(matrix or rule) makes of the specification's.
template <class Use>
auto make(std::string_view specification, const GeneratorOptions& options, const Use& use) {
  std::string_view name_and_arguments = specification;
  GeneratorOptions seeded = options;
  seeded.seed = take_seed(name_and_arguments).value_or(options.seed);
  const Generator& generator = find_generator(name_and_arguments);
  if (name_and_arguments.size() == generator.name.size())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("generator '{}': it has no arguments; the form is {}", specification,
                            form(generator)));
  const Arguments arguments(std::string(specification),
                            name_and_arguments.substr(generator.name.size() + 1),
                            generator.parameters(), form(generator));
  const ThreadCount thread_count(options.threads);
  try {
    return std::visit([&](auto function) { return use(function(arguments, seeded)); },
                      generator.make);
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // a vector longer than any memory
  }
  throw Error(
      ErrorCode::out_of_memory,
      fmt::format("generator '{}': the host has too little memory for this matrix", specification));
}

/// Rows by a rule.
class GeneratedRows final : public StreamedRows<double> {
 public:
  explicit GeneratedRows(RowRule rule)
      : StreamedRows(rule.rows, detail::row_offsets(rule)), rule_(std::move(rule)) {}

 private:
  void read(std::int64_t begin, std::int64_t end, std::int32_t* columns,
            double* values) const override {
    const std::int64_t first = offsets()[begin];
    for (std::int64_t row = begin; row < end; ++row)
      rule_.fill(row, columns + (offsets()[row] - first), values + (offsets()[row] - first));
  }

  RowRule rule_;
};

}  // namespace

Csr<double> generate(std::string_view specification, const GeneratorOptions& options) {
  return make(specification, options, [](auto&& made) {
    if constexpr (std::is_same_v<std::decay_t<decltype(made)>, RowRule>)
      return detail::build_rows(made);
    else
      return std::forward<decltype(made)>(made);
  });
}

std::unique_ptr<RowSource<double>> generate_rows(std::string_view specification,
                                                 const GeneratorOptions& options) {
  if (!find_generator(specification).is_rule()) return nullptr;
  return make(specification, options, [](auto&& made) -> std::unique_ptr<RowSource<double>> {
    if constexpr (std::is_same_v<std::decay_t<decltype(made)>, RowRule>)
      return std::make_unique<GeneratedRows>(std::forward<decltype(made)>(made));
    else
      return nullptr;
  });
}

std::string generator_help() {
  std::string text;
  for (const Generator& generator : generators) {
    text += fmt::format("{}\n    {}\n", form(generator), generator.summary);
    for (const Parameter& parameter : generator.parameters()) {
      text += fmt::format("    {}: {}", parameter.name, expected(parameter));
      if (parameter.when_omitted) text += fmt::format(", {} when omitted", *parameter.when_omitted);
      text += '\n';
    }
  }
  return text + "@SEED at the end sets the seed of what is random.\n";
}

}  // namespace tansolve
