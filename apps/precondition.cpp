// SPDX-License-Identifier: BSD-3-Clause
// Every preconditioner by its name: for which matrices, what it is, how it is made.
#include "precondition.hpp"

#include "multigrid.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/preconditioners/block_jacobi.hpp>
#include <tansolve/preconditioners/fsai.hpp>
#include <tansolve/preconditioners/incomplete.hpp>
#include <tansolve/preconditioners/jacobi.hpp>
#include <tansolve/preconditioners/polynomial.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

namespace tansolve::app {
namespace {

template <class T, class B, template <class, class> class M>
Preconditioning<T, B> preconditioning(std::unique_ptr<M<T, B>> made, std::string note = {}) {
  const std::int64_t bytes = made->bytes();
  return {std::move(made), {bytes, std::move(note)}};
}

template <class T, class B>
Preconditioning<T, B> make_block_jacobi(const PreconditionerInput<T, B>& in) {
  BlockJacobiOptions options{.threads = in.threads};
  options.size = in.parameter("size", options.size);
  options.low_precision_error = in.parameter("fp32-error", options.low_precision_error);
  auto made = std::make_unique<BlockJacobi<T, B>>(in.A.context(), in.csr(), options);
  const auto& blocks = made->inverses().blocks;
  int largest = 0;
  for (const DiagonalBlock& block : blocks) largest = std::max<int>(largest, block.size);
  const auto low = std::ranges::count_if(blocks, &DiagonalBlock::low);
  std::string note = fmt::format("{} blocks of up to {} rows, {} of them in fp32", blocks.size(),
                                 largest, sizeof(T) == sizeof(float) ? std::ssize(blocks) : low);
  return preconditioning(std::move(made), std::move(note));
}

template <class T, class B>
Preconditioning<T, B> make_polynomial(const PreconditionerInput<T, B>& in, auto options) {
  options.degree = in.parameter("degree", options.degree);
  auto made = std::make_unique<Polynomial<T, B>>(in.A, options);
  const EigenvalueBounds bounds = made->bounds();
  return preconditioning(
      std::move(made), bounds.upper == 0 ? ""
                                         : fmt::format("degree {}, eigenvalues of D^-1 A taken to "
                                                       "lie in [{:.3g}, {:.3g}]",
                                                       options.degree, bounds.lower, bounds.upper));
}

template <class T, class B>
Preconditioning<T, B> make_fsai(const PreconditionerInput<T, B>& in, FsaiPattern pattern) {
  pattern.power = in.parameter("power", pattern.power);
  pattern.adaptive_steps = in.parameter("steps", pattern.adaptive_steps);
  pattern.adaptive_entries = in.parameter("entries", pattern.adaptive_entries);
  pattern.mantissa_bits = in.parameter("bits", pattern.mantissa_bits);
  auto made = std::make_unique<Fsai<T, B>>(
      in.A.context(), in.csr(),
      FsaiOptions{.pattern = pattern, .plan = {.objective = in.objective}, .threads = in.threads});
  const double factors = static_cast<double>(made->lower().bytes() + made->upper().bytes());
  std::string note = fmt::format("its factors take {:.3g} of their bytes as csr",
                                 factors / static_cast<double>(made->csr_bytes()));
  return preconditioning(std::move(made), std::move(note));
}

template <class T, class B>
Preconditioning<T, B> make_incomplete(const PreconditionerInput<T, B>& in,
                                      typename Incomplete<T, B>::Kind kind) {
  auto made = std::make_unique<Incomplete<T, B>>(in.A.context(), in.csr(), kind,
                                                 in.parameter("shift", 0.0));
  std::string note;
  if (made->shift() > 0)
    note = fmt::format("the diagonal {} times as large{}", 1 + made->shift(),
                       made->shift() > in.parameter("shift", 0.0) ? ", without which it breaks down"
                                                                  : ", as asked for");
  return preconditioning(std::move(made), std::move(note));
}

template <class T, class B>
AmgOptions amg_options(const PreconditionerInput<T, B>& in) {
  AmgOptions options = in.amg;
  options.theta = in.parameter("theta", options.theta);
  options.cycle = in.parameter("cycle", options.cycle);
  options.smoother = in.parameter("smoother", options.smoother);
  options.degree = in.parameter("degree", options.degree);
  options.unknowns_per_node = in.parameter("unknowns", options.unknowns_per_node);
  options.plan.objective = in.objective;
  options.threads = in.threads;
  return options;
}

template <class T, class B>
Preconditioning<T, B> make_amg(const PreconditionerInput<T, B>& in) {
  auto made = std::make_unique<Amg<T, B>>(in.A, in.csr(), amg_options(in));
  const AmgFacts facts = made->facts();
  auto result = preconditioning(
      std::move(made),
      fmt::format("{} level{}, operator complexity {:.3f}, its matrices take {} bytes, {} as csr",
                  facts.levels.size(), facts.levels.size() == 1 ? "" : "s",
                  facts.operator_complexity(), facts.bytes(), facts.csr_bytes()));
  std::ostringstream table;
  table << facts;
  result.facts.table = table.str();
  result.facts.hierarchy = hierarchy_json(facts);
  return result;
}

}  // namespace

namespace {

/// What may be given beside a name.
struct Parameter {
  std::string_view owner, key;
  bool whole;
  double least, most;
  std::string_view about;
  std::string_view words = {};  ///< A|B instead of numbers, for 0 and 1
};

constexpr Parameter all_parameters[] = {
    {"block-jacobi", "size", true, 1, most_block_rows, "rows of a block; those of a node"},
    {"block-jacobi", "fp32-error", false, 0, 1e300,
     "blocks are stored in fp32 where that changes them by no more; 1e-3, 0: nowhere"},
    {"chebyshev", "degree", true, 0, 100, "products with the matrix; 4"},
    {"neumann", "degree", true, 0, 100, "the same; 2"},
    {"neumann", "damping", false, 1e-6, 1e6, "of Jacobi's iteration; from the eigenvalues, or 1"},
    {"fsai", "power", true, 1, 2, "of the matrix, whose pattern it takes; 1"},
    {"fsai", "bits", true, 1, 52, "of the mantissa of its values; 12"},
    {"afsai", "power", true, 0, 2, "of the matrix, with whose pattern it begins; 0"},
    {"afsai", "steps", true, 1, 100, "by which the pattern adapts; 4"},
    {"afsai", "entries", true, 1, 96, "that a step adds to a row; 4"},
    {"afsai", "bits", true, 1, 52, "as of fsai; 12"},
    {"amg", "theta", false, 0, 0.999,
     "unknowns are joined along |a_ij| > theta sqrt(a_ii a_jj), or less in wide rows; 0.1"},
    {"amg", "cycle", true, 0, 1, "the way through the levels; v", "v|w"},
    {"amg", "smoother", true, 0, 1, "on each level; chebyshev", "chebyshev|jacobi"},
    {"amg", "degree", true, 1, 100, "steps of the smoother; 2"},
    {"amg", "unknowns", true, 1, 1000, "consecutive rows of a node; found where not given"},
    {"ic0", "shift", false, 0, 1000, "of the diagonal, relative to it; 0, or more where needed"},
    {"ilu0", "shift", false, 0, 1000, "the same"}};

/// What a text says of a parameter, if it may.
std::optional<double> value_of(const Parameter& parameter, std::string_view text) {
  if (!parameter.words.empty()) {
    const std::string_view words = parameter.words;
    const std::size_t bar = words.find('|');
    if (text == words.substr(0, bar)) return 0;
    return text == words.substr(bar + 1) ? std::optional<double>(1) : std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = error == std::errc() && end == text.data() + text.size();
  const bool fits = number && value >= parameter.least && value <= parameter.most &&
                    (!parameter.whole || value == std::floor(value));
  return fits ? std::optional(value) : std::nullopt;
}

/// Takes one KEY=VALUE.
void take_parameter(PreconditionerRequest& request, std::string_view item) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--precond: '{}' of {} {}", item, request.name, why));
  };
  const std::size_t equals = item.find('=');
  const std::string_view key = item.substr(0, equals);
  std::string keys;
  const Parameter* parameter = nullptr;
  for (const Parameter& known : all_parameters) {
    if (known.owner != request.name) continue;
    keys += fmt::format("{}{}", keys.empty() ? "" : ", ", known.key);
    if (known.key == key) parameter = &known;
  }
  if (parameter == nullptr)
    return refuse(keys.empty() ? "is unknown: it takes no parameters"
                               : fmt::format("is unknown; it takes {}", keys));
  const std::string_view text = equals == std::string_view::npos ? "" : item.substr(equals + 1);
  const std::optional<double> value = value_of(*parameter, text);
  if (!value)
    return refuse(parameter->words.empty()
                      ? fmt::format("must be {} from {:g} to {:g}",
                                    parameter->whole ? "an integer" : "a number", parameter->least,
                                    parameter->most)
                      : fmt::format("must be one of {}", parameter->words));
  if (!request.values.emplace(key, *value).second) refuse("is given twice");
}

}  // namespace

PreconditionerRequest parse_preconditioner(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  PreconditionerRequest request{.name = text.substr(0, colon)};
  std::vector<std::string> names = preconditioner_names();
  names.insert(names.begin(), "auto");
  if (std::ranges::find(names, request.name) == names.end())
    throw Error(ErrorCode::invalid_argument, fmt::format("--precond: '{}' must be one of {}",
                                                         request.name, fmt::join(names, "|")));
  for (std::size_t begin = colon + 1; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    take_parameter(request, std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
  return request;
}

std::string preconditioner_parameters() {
  std::string all;
  for (const Parameter& known : all_parameters)
    all += fmt::format("{}{}:{}={} ({})", all.empty() ? "" : "; ", known.owner, known.key,
                       !known.words.empty() ? known.words
                       : known.whole        ? "N"
                                            : "X",
                       known.about);
  return all;
}

template <class T, class B>
const Csr<T>& PreconditionerInput<T, B>::csr() const {
  if (matrix.csr) return *matrix.csr;
  if (!decoded) decoded = matrix.compressed->decode(threads);
  return *decoded;
}

template <class T, class B>
std::span<const PreconditionerEntry<T, B>> all_preconditioners() {
  using Input = PreconditionerInput<T, B>;
  using Kinds = typename Incomplete<T, B>::Kind;
  static constexpr PreconditionerEntry<T, B> table[] = {
      {"none", Kind::general, "the residual as it is",
       [](const Input&) { return Preconditioning<T, B>(); }},
      {"jacobi", Kind::general, "the inverse of the diagonal",
       [](const Input& in) {
         return preconditioning(std::make_unique<Jacobi<T, B>>(in.A.context(), in.A));
       }},
      {"block-jacobi", Kind::general, "the inverses of the diagonal blocks of nodes",
       [](const Input& in) { return make_block_jacobi(in); }},
      {"chebyshev", Kind::definite, "a polynomial in the matrix, least far from its inverse",
       [](const Input& in) { return make_polynomial(in, Chebyshev()); }},
      {"neumann", Kind::general, "a few damped steps of Jacobi's iteration",
       [](const Input& in) {
         Neumann options;
         if (!in.symmetric) options.damping = 1.0;
         if (const double damping = in.parameter("damping", 0.0); damping > 0)
           options.damping = damping;
         return make_polynomial(in, options);
       }},
      {"fsai", Kind::definite, "a sparse approximate inverse of the Cholesky factor, compressed",
       [](const Input& in) { return make_fsai(in, {}); }},
      {"afsai", Kind::definite, "the same on a pattern that adapts to the matrix, up to 17 a row",
       [](const Input& in) {
         return make_fsai(in, {.power = 0, .adaptive_steps = 4, .adaptive_entries = 4});
       }},
      {"amg", Kind::definite, "multigrid by smoothed aggregation, its levels compressed",
       [](const Input& in) { return make_amg(in); }},
      {"ic0", Kind::definite, "incomplete Cholesky without fill",
       [](const Input& in) { return make_incomplete(in, Kinds::cholesky); }},
      {"ilu0", Kind::general, "incomplete LU without fill",
       [](const Input& in) { return make_incomplete(in, Kinds::lu); }}};
  return table;
}

template <class T, class B>
const PreconditionerEntry<T, B>& preconditioner_named(std::string_view name) {
  return *std::ranges::find(all_preconditioners<T, B>(), name, &PreconditionerEntry<T, B>::name);
}

std::vector<std::string> preconditioner_names() {
  std::vector<std::string> names;
  for (const auto& entry : all_preconditioners<double, Host>()) names.emplace_back(entry.name);
  return names;
}

template <class T, class B>
Preconditioning<T, B> build_preconditioner(const Method& method,
                                           const PreconditionerInput<T, B>& input) {
  const auto build = [&](std::string_view name) {
    const Stopwatch stopwatch;
    auto made = preconditioner_named<T, B>(name).make(input);
    made.facts.seconds = stopwatch.seconds();
    return made;
  };
  try {
    return build(method.preconditioner);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::bad_input) throw;
    if (!method.automatic_preconditioner)
      throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}; --precond none does without",
                                                           input.matrix.name, error.what()));
    auto made = build("jacobi");
    made.facts.note = fmt::format("it is jacobi instead, since {}", error.what());
    return made;
  }
}

template <class T, class B>
std::optional<AmgBytes> expected_bytes(const Method& method, const PreconditionerInput<T, B>& input,
                                       double rows_a_block) {
  if (method.preconditioner != "amg") return std::nullopt;
  AmgOptions options = amg_options(input);
  if (options.unknowns_per_node == 0)
    options.unknowns_per_node = static_cast<int>(std::clamp(rows_a_block, 1.0, 6.0));
  return amg_bytes(input.A.rows(), input.matrix.nnz(), options);
}

template <class T>
double mean_natural_block(const Csr<T>& A) {
  const auto blocks = std::max<std::int64_t>(std::ssize(natural_blocks(A, most_block_rows)), 1);
  return static_cast<double>(A.rows()) / static_cast<double>(blocks);
}

template double mean_natural_block(const Csr<double>&);
template double mean_natural_block(const Csr<float>&);

#define TANSOLVE_INSTANTIATE(T, B)                                                                 \
  template struct PreconditionerInput<T, B>;                                                       \
  template std::span<const PreconditionerEntry<T, B>> all_preconditioners();                       \
  template const PreconditionerEntry<T, B>& preconditioner_named(std::string_view);                \
  template std::optional<AmgBytes> expected_bytes(const Method&, const PreconditionerInput<T, B>&, \
                                                  double);                                         \
  template Preconditioning<T, B> build_preconditioner(const Method&,                               \
                                                      const PreconditionerInput<T, B>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::app
