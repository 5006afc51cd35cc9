// SPDX-License-Identifier: Apache-2.0
#include <amct/amct.hpp>

int main() {
  const float data[] = {-1.0F, 1.0F};
  amct::MinMax observer;
  if (!observer.observe(data)) return 1;
  return observer.compute(amct::Int8::range).offset == -1 ? 0 : 1;
}
