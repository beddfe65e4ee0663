// SPDX-License-Identifier: BSD-3-Clause
// Chooses the format and reports what it costs.
#include "prepare.hpp"

#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/error.hpp>

#include <algorithm>
#include <utility>

namespace tansolve::app {
namespace {

/// The smallest fixed rate whose table holds every pair, else the largest.
Coding smallest_fixed(const Histogram& histogram) {
  for (const Coding coding : {Coding::fixed8, Coding::fixed12})
    if (!histogram.sampled && std::ssize(histogram.pairs) <= traits(coding).geometry.slots())
      return coding;
  return Coding::fixed16;
}

template <class T>
void keep_container(Prepared<T>& prepared, CompressedMatrix<T> matrix, const PlanOptions& options,
                    int threads) {
  if (options.forced)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--plan: {} is a container, whose plan is fixed; 'tansolve encode' "
                            "makes one by another plan",
                            prepared.name));
  if (is_plain(options.format)) {
    prepared.csr = matrix.decode(threads);
    prepared.plain = options.format;
    prepared.reason = format_name(options.format) + " was asked for";
  } else {
    prepared.compressed = std::move(matrix);
    prepared.reason = "the container's own";
  }
}

template <class T>
void plan_and_encode(Prepared<T>& prepared, const RowSource<T>& rows, const PlanOptions& options,
                     int threads) {
  const Stopwatch stopwatch;
  StatusLine line;
  line.show("encoding", 0);
  Survey<T> survey(rows, threads);
  prepared.histogram = survey.histogram();
  PlanRequest request = options.request;
  if (options.smallest_fixed) request.coding = smallest_fixed(*prepared.histogram);
  prepared.choice = choose_plan(survey, request);

  const bool asked = options.format == Format::dtans || options.forced;
  prepared.reason = prepared.choice->reason;
  if (!asked && !prepared.choice->compression_pays) {
    prepared.reason = fmt::format(
        "compression is predicted not to pay, {}; --format dtans compresses all the same",
        request.objective_or_default() == Objective::time
            ? fmt::format("{:.3g} ms a product against {:.3g} of csr",
                          prepared.choice->chosen.nanoseconds * 1e-6,
                          prepared.choice->csr_nanoseconds * 1e-6)
            : fmt::format("{:.4g} bytes against {:.4g} of csr", prepared.choice->chosen.bytes,
                          prepared.choice->csr_bytes));
    return;
  }
  prepared.compressed = encode(survey, prepared.choice->chosen.plan,
                               [&](double done) { line.show("encoding", done); });
  prepared.encode_seconds = stopwatch.seconds();
}

std::int64_t plain_bytes(const StandardBytes& standard, Format format) {
  return format == Format::coo    ? standard.coo
         : format == Format::sell ? standard.sell
                                  : standard.csr;
}

}  // namespace

template <class T>
StandardBytes Prepared<T>::standard() const {
  return csr ? standard_bytes(*csr) : standard_bytes(compressed->row_offsets(), sizeof(T));
}

template <class T>
Prepared<T> prepare(Source<T> source, const PlanOptions& options, int threads) {
  if (options.forced && is_plain(options.format))
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("--plan: {} has no plan; it goes with dtans", format_name(options.format)));
  Prepared<T> prepared{.name = source.name};
  if (source.is_container()) {
    keep_container(prepared, std::get<CompressedMatrix<T>>(std::move(source.matrix)), options,
                   threads);
    return prepared;
  }
  prepared.csr = std::get<Csr<T>>(std::move(source.matrix));
  if (is_plain(options.format)) {
    prepared.plain = options.format;
    prepared.reason = format_name(options.format) + " was asked for";
  } else {
    plan_and_encode(prepared, CsrRows<T>(*prepared.csr), options, threads);
  }
  return prepared;
}

template <class T>
Prepared<T> prepare_rows(const std::string& name, const RowSource<T>& rows,
                         const PlanOptions& options, int threads) {
  Prepared<T> prepared{.name = name};
  plan_and_encode(prepared, rows, options, threads);
  return prepared;
}

template <class T>
Prepared<T> prepare_transpose(const Prepared<T>& matrix, PlanOptions options, int threads) {
  options.format = matrix.compressed ? Format::dtans : matrix.plain;
  Source<T> source{
      .name = matrix.name + ", transposed",
      .matrix = transpose(matrix.csr ? *matrix.csr : matrix.compressed->decode(threads))};
  return prepare(std::move(source), options, threads);
}

std::string_view row_ends_name(RowEnds row_ends) {
  return row_ends == RowEnds::aligned ? "aligned" : "crossing";
}

std::string plan_text(const Plan& plan) {
  if (!is_stream(plan.coding)) return fmt::format("{} geometry", traits(plan.coding).name);
  return fmt::format("{} geometry, {} row{} a lane, {} row ends", traits(plan.coding).name,
                     plan.rows_per_lane, plan.rows_per_lane == 1 ? "" : "s",
                     row_ends_name(plan.row_ends));
}

template <class T>
Json plan_json(const Prepared<T>& matrix) {
  Json json = {{"format", matrix.compressed ? "dtans" : format_name(matrix.plain)}};
  if (matrix.compressed) {
    const Plan& plan = matrix.compressed->plan();
    json["geometry"] = traits(plan.coding).name;
    json["rows_per_lane"] = plan.rows_per_lane;
    json["row_ends"] = row_ends_name(plan.row_ends);
  }
  json["reason"] = matrix.reason;
  if (matrix.choice) {
    json["predicted_bytes"] = matrix.choice->chosen.bytes;
    json["predicted_product_seconds"] = matrix.choice->chosen.nanoseconds * 1e-9;
    json["predicted_csr_product_seconds"] = matrix.choice->csr_nanoseconds * 1e-9;
  }
  return json;
}

template <class T>
Json storage_json(const Prepared<T>& matrix) {
  const StandardBytes standard = matrix.standard();
  Json json;
  std::int64_t total = plain_bytes(standard, matrix.plain);
  if (matrix.compressed) {
    const StorageBytes storage = matrix.compressed->storage();
    total = storage.total();
    json = {{"bytes_total", total},
            {"symbols", storage.symbols},
            {"payload", storage.payload},
            {"row_lengths", storage.row_lengths},
            {"offsets", storage.offsets}};
  } else {
    json = {{"bytes_total", total}};
  }
  json["csr_bytes"] = standard.csr;
  json["coo_bytes"] = standard.coo;
  json["sell_bytes"] = standard.sell;
  json["bytes_per_nnz"] = static_cast<double>(total) / static_cast<double>(matrix.nnz());
  return json;
}

template <class T>
Json encode_json(const Prepared<T>& matrix) {
  if (matrix.encode_seconds == 0) return nullptr;
  return {{"seconds", matrix.encode_seconds},
          {"nnz_per_second", static_cast<double>(matrix.nnz()) / matrix.encode_seconds}};
}

template <class T>
void say_plan_and_storage(const Console& console, const Prepared<T>& matrix) {
  const StandardBytes standard = matrix.standard();
  if (!matrix.compressed) {
    console.say("format    {}: {}\nstorage   {}\n", format_name(matrix.plain), matrix.reason,
                bytes_text(plain_bytes(standard, matrix.plain)));
    return;
  }
  const StorageBytes storage = matrix.compressed->storage();
  const auto total = static_cast<double>(storage.total());
  const auto nnz = static_cast<double>(matrix.nnz());
  console.say("format    dtans: {}; {}\n", plan_text(matrix.compressed->plan()), matrix.reason);
  const bool streams = is_stream(matrix.compressed->plan().coding);
  console.say("storage   {}: {} {}, {} {}, {} {}, slice offsets {}\n", bytes_text(total),
              streams ? "streams" : "fields", bytes_text(storage.payload),
              streams ? "symbols" : "patterns and dictionary", bytes_text(storage.symbols),
              streams ? "row lengths" : "rows", bytes_text(storage.row_lengths),
              bytes_text(storage.offsets));
  if (nnz > 0)
    console.say("          {:.3f} bytes a nonzero, {:.2f} times {} than csr ({})\n", total / nnz,
                std::max(standard.csr / total, total / standard.csr),
                total <= standard.csr ? "less" : "more", bytes_text(standard.csr));
  if (matrix.encode_seconds > 0)
    console.say("encode    {:.3g} s, {:.1f} Mnnz/s\n", matrix.encode_seconds,
                nnz / matrix.encode_seconds * 1e-6);
}

#define TANSOLVE_INSTANTIATE(T)                                                                  \
  template struct Prepared<T>;                                                                   \
  template Prepared<T> prepare(Source<T>, const PlanOptions&, int);                              \
  template Prepared<T> prepare_rows(const std::string&, const RowSource<T>&, const PlanOptions&, \
                                    int);                                                        \
  template Prepared<T> prepare_transpose(const Prepared<T>&, PlanOptions, int);                  \
  template Json plan_json(const Prepared<T>&);                                                   \
  template Json storage_json(const Prepared<T>&);                                                \
  template Json encode_json(const Prepared<T>&);                                                 \
  template void say_plan_and_storage(const Console&, const Prepared<T>&);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::app
