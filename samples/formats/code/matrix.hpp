#pragma once
#include <vector>

namespace linear {

/// A matrix of numbers.
template <typename T>
class Matrix : public Base {
 public:
  explicit Matrix(int rows) : rows_(rows) {}

  /// Adds another matrix.
  Matrix& operator+=(const Matrix& other) {
    rows_ += other.rows_;
    return *this;
  }

 private:
  int rows_;
};

template <typename T>
T trace(const Matrix<T>& matrix) {
  return T();
}

}  // namespace linear
