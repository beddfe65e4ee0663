// SPDX-License-Identifier: BSD-3-Clause
// The primitives on a GPU next to cuBLAS's, whose scalars stay on the device, too.
#include "bench_cuda_timer.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/primitives.hpp>

#include <cublas_v2.h>

#include <memory>
#include <type_traits>

namespace tansolve::app {
namespace {

void check_cublas(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Error(ErrorCode::device, fmt::format("cuBLAS: {}", cublasGetStatusString(status)));
}

struct DestroyCublas {
  void operator()(cublasContext* handle) const noexcept { cublasDestroy(handle); }
};

/// Lines of the table, objects of the document.
class PrimitiveTable {
 public:
  PrimitiveTable(const Console& console, DeviceTimer& timer) : console_(&console), timer_(&timer) {
    console.say("{:>9} {:>5} {:>10} {:>8} {:>14}\n", "primitive", "", "elements", "GB/s",
                "cuBLAS's GB/s");
  }

  /// Bytes that one call has to move; `theirs` may be empty.
  template <class T>
  void add(const char* name, std::int64_t n, int passes, const DeviceTimer::Launch& ours,
           const DeviceTimer::Launch& theirs) {
    const char* precision = sizeof(T) == 8 ? "f64" : "f32";
    const double bytes = static_cast<double>(n) * passes * sizeof(T);
    const double seconds = timer_->warm(ours);
    Json row = {{"name", name},
                {"precision", precision},
                {"elements", n},
                {"seconds", seconds},
                {"bytes_per_second", bytes / seconds}};
    std::string other;
    if (theirs) {
      const double cublas_seconds = timer_->warm(theirs);
      row["cublas_seconds"] = cublas_seconds;
      row["cublas_bytes_per_second"] = bytes / cublas_seconds;
      other = fmt::format("{:.0f}", bytes / cublas_seconds * 1e-9);
    }
    console_->say("{:>9} {:>5} {:>10} {:>8.0f} {:>14}\n", name, precision, n,
                  bytes / seconds * 1e-9, other);
    rows_.push_back(row);
  }
  const Json& rows() const { return rows_; }

 private:
  const Console* console_;
  DeviceTimer* timer_;
  Json rows_ = Json::array();
};

template <class T>
void add_primitives(Context<Cuda>& context, cublasContext* cublas, PrimitiveTable& table) {
  constexpr std::int64_t n = std::int64_t{1} << 26;  // several times the L2
  constexpr int size = static_cast<int>(n);
  Vector<T, Cuda> x(context, n), y(context, n);
  copy_from_host(context, bench_vector<T>(n, 1), x.span());
  copy_from_host(context, bench_vector<T>(n, 2), y.span());
  Scalar<T, Cuda> result(context), a(context);
  write(context, T(-0.5), a);
  const T* xs = x.span().data();
  T* ys = y.span().data();
  constexpr bool wide = std::is_same_v<T, double>;

  table.add<T>(
      "dot", n, 2, [&] { dot(context, x, y, result); },
      [&] {
        if constexpr (wide)
          check_cublas(cublasDdot(cublas, size, xs, 1, ys, 1, result.data()));
        else
          check_cublas(cublasSdot(cublas, size, xs, 1, ys, 1, result.data()));
      });
  table.add<T>(
      "norm2", n, 1, [&] { norm2(context, x, result); },
      [&] {
        if constexpr (wide)
          check_cublas(cublasDnrm2(cublas, size, xs, 1, result.data()));
        else
          check_cublas(cublasSnrm2(cublas, size, xs, 1, result.data()));
      });
  // cuBLAS has no axpby; its axpy moves the same bytes.
  table.add<T>(
      "axpby", n, 3, [&] { axpby(context, T(-0.5), x, T(0.5), y.span()); },
      [&] {
        if constexpr (wide)
          check_cublas(cublasDaxpy(cublas, size, a.data(), xs, 1, ys, 1));
        else
          check_cublas(cublasSaxpy(cublas, size, a.data(), xs, 1, ys, 1));
      });
}

}  // namespace

Json bench_primitives(Context<Cuda>& context, DeviceTimer& timer, const Console& console) {
  const cudaStream_t stream = context.stream();  // and makes the device current
  cublasContext* handle = nullptr;
  check_cublas(cublasCreate(&handle));
  const std::unique_ptr<cublasContext, DestroyCublas> cublas(handle);
  check_cublas(cublasSetStream(handle, stream));
  check_cublas(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  PrimitiveTable table(console, timer);
  add_primitives<double>(context, handle, table);
  add_primitives<float>(context, handle, table);
  return table.rows();
}

}  // namespace tansolve::app
