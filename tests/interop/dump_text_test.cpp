// SPDX-License-Identifier: Apache-2.0
#include <amct/interop/dump_text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::ElementType;
using amct::Error;
using amct::ErrorCode;
using amct::Shape;
using amct::Tensor;

Tensor parse(const std::string& text) { return amct::interop::parse_dump_text(text, "x.txt"); }

std::string text_of(const Tensor& tensor) {
  std::ostringstream out;
  amct::interop::write_dump_text(out, tensor);
  return out.str();
}

/// The message with which the text is refused as data.format.
std::string refusal(const std::string& text) {
  try {
    (void)parse(text);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::data_format);
    CHECK(error.where().file == "x.txt");
    return error.message();
  }
  return "accepted";
}

template <class T>
void check_round_trip(const std::vector<T>& values) {
  const Tensor tensor(Shape{static_cast<std::int64_t>(values.size())}, std::span<const T>(values));
  const Tensor back = parse(text_of(tensor));
  CAPTURE(text_of(tensor));
  CHECK(back.type() == tensor.type());
  CHECK(back.shape() == tensor.shape());
  CHECK(std::equal(back.raw().begin(), back.raw().end(), tensor.raw().begin(), tensor.raw().end()));
}

}  // namespace

TEST_CASE("a text has a line of type and sizes, and one for each row") {
  const std::vector<float> values{1.0F, -0.5F, 3.0F, 4.0F, 5.0F, 1e-7F};
  CHECK(text_of(Tensor(Shape{2, 3}, std::span<const float>(values))) == "# float32 2,3\n1.0 -0.5 3.0\n4.0 5.0 1e-07\n");
  CHECK(text_of(Tensor::scalar(std::int32_t{7})) == "# int32 \n7\n");
  CHECK(text_of(Tensor(ElementType::int8, Shape{2, 0})) == "# int8 2,0\n");
}

TEST_CASE("every number of every type comes back") {
  using Limits = std::numeric_limits<float>;
  check_round_trip<float>({0.1F, -0.0F, Limits::denorm_min(), Limits::max(), Limits::infinity(), -Limits::infinity()});
  CHECK(std::isnan(parse(text_of(Tensor::scalar(Limits::quiet_NaN()))).data<float>()[0]));
  check_round_trip<double>({0.1, 1e300, 1.0 / 3.0});
  check_round_trip<amct::Half>({amct::to_half(0.1F), amct::to_half(-65504.0F)});
  check_round_trip<std::int8_t>({-128, 127, 10});
  check_round_trip<std::uint8_t>({0, 255});
  check_round_trip<std::int16_t>({-32768, 32767});
  check_round_trip<std::uint16_t>({65535});
  check_round_trip<std::int32_t>({std::numeric_limits<std::int32_t>::min()});
  check_round_trip<std::uint32_t>({~0U});
  check_round_trip<std::int64_t>({std::numeric_limits<std::int64_t>::min()});
  check_round_trip<std::uint64_t>({~std::uint64_t{0}});
  const Tensor truth = parse("# bool 3\n1 0 1\n");
  CHECK(text_of(truth) == "# bool 3\n1 0 1\n");
}

TEST_CASE("scalars and empty tensors come back") {
  CHECK(parse("# int32 \n7\n").shape() == Shape{});
  CHECK(parse("# int8 2,0\n").shape() == Shape{2, 0});
}

TEST_CASE("texts of other programs are one axis of float64") {
  const Tensor tensor = parse("# made by something 1,2\n1.5, 2 # ;\n\n  -3e2\r\n# the end");
  CHECK(tensor.type() == ElementType::float64);
  CHECK(tensor.shape() == Shape{3});
  CHECK(tensor.data<double>()[2] == -300.0);
  CHECK(parse("").shape() == Shape{0});
  CHECK(parse("# only a comment").size() == 0);
}

TEST_CASE("what is no number of the type is refused") {
  CHECK(refusal("# int8 1\n128\n") == "has \"128\" as number 0, expected int8");
  CHECK(refusal("# int8 2\n1 2.5\n") == "has \"2.5\" as number 1, expected int8");
  CHECK(refusal("# bool 1\n2\n") == "has \"2\" as number 0, expected bool");
  CHECK(refusal("1 two") == "has \"two\" as number 1, expected float64");
  CHECK(refusal("# float32 1\n1e99\n") == "has \"1e99\" as number 0, expected float32");
  CHECK(refusal(std::string(100000, 'x')).size() < 100);
}

TEST_CASE("another count of numbers than the sizes say is refused") {
  CHECK(refusal("# float32 2,3\n1 2 3 4 5\n") == "has 5 numbers, expected 6 for [2,3]");
  CHECK(refusal("# float32 \n1 2\n") == "has more than 1 numbers, expected no more");
  CHECK(refusal("# int8 2,0\n1\n") == "has more than 0 numbers, expected no more");
  CHECK(refusal("# float32 536870912\n1\n") == "has 1 numbers, expected 536870912 for [536870912]");
}

TEST_CASE("numbers behind the last one that the sizes allow are not kept") {
  std::string text = "# int8 3\n";
  for (int i = 0; i < 1000; ++i) text += "7 ";
  CHECK(refusal(text + "no number") == "has more than 3 numbers, expected no more");
}

TEST_CASE("sizes that nothing can have are a comment as any other") {
  for (const char* sizes : {"-1", "99999999999999999999", "4294967296,4294967296", "2,", ",2", "2,,3", "2;3"}) {
    CAPTURE(sizes);
    CHECK(parse("# float32 " + std::string(sizes) + "\n1 2\n").shape() == Shape{2});
  }
  std::string many = "1";
  for (int i = 0; i < 40; ++i) many += ",1";
  CHECK(parse("# float32 " + many + "\n1 2\n").shape() == Shape{2});
}
