// SPDX-License-Identifier: Apache-2.0
#include <amct/core/cast.hpp>
#include <amct/onnx/messages.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstring>
#include <limits>

#include "support/graph_builder.hpp"

using namespace amct;
using support::error_of;
using support::values;
using Proto = ::onnx::TensorProto;

namespace {

constexpr ElementType kTypes[] = {ElementType::float32, ElementType::float64, ElementType::float16,
                                  ElementType::int8,    ElementType::uint8,   ElementType::int16,
                                  ElementType::uint16,  ElementType::int32,   ElementType::uint32,
                                  ElementType::int64,   ElementType::uint64,  ElementType::boolean};

Proto message(int type, const std::vector<std::int64_t>& dims) {
  Proto tensor;
  tensor.set_name("t");
  tensor.set_data_type(type);
  for (const auto dim : dims) tensor.add_dims(dim);
  return tensor;
}
void check_refused(const Proto& tensor, ErrorCode code, const std::string& part) {
  const auto error = error_of([&] { (void)amct::onnx::from_onnx(tensor); });
  REQUIRE(error);
  CHECK(error->code() == code);
  CHECK(error->where().tensor == "t");
  INFO(error->what());
  CHECK(support::contains(error->message(), part));
}
template <class T>
Proto raw(int type, const std::vector<T>& data) {
  Proto tensor = message(type, {static_cast<std::int64_t>(data.size())});
  tensor.set_raw_data(data.data(), data.size() * sizeof(T));
  return tensor;
}

}  // namespace

TEST_CASE("Element types of ONNX and amct correspond both ways") {
  for (const ElementType type : kTypes) {
    CHECK(amct::onnx::from_onnx_type(amct::onnx::to_onnx_type(type)) == type);
  }
  CHECK(amct::onnx::to_onnx_type(ElementType::uint64) == Proto::UINT64);
  CHECK(amct::onnx::to_onnx_type(ElementType::float16) == Proto::FLOAT16);
  CHECK_FALSE(amct::onnx::from_onnx_type(Proto::BFLOAT16));
  CHECK_FALSE(amct::onnx::from_onnx_type(Proto::STRING));
  CHECK_FALSE(amct::onnx::from_onnx_type(0));
  CHECK_FALSE(amct::onnx::from_onnx_type(999));
}

TEST_CASE("Tensors are read from raw data of every type") {
  CHECK(values<float>(amct::onnx::from_onnx(raw<float>(Proto::FLOAT, {1.5F, -2}))) == std::vector<float>{1.5F, -2});
  CHECK(values<double>(amct::onnx::from_onnx(raw<double>(Proto::DOUBLE, {1.5}))) == std::vector<double>{1.5});
  CHECK(values<std::int8_t>(amct::onnx::from_onnx(raw<std::int8_t>(Proto::INT8, {-128, 127}))) ==
        std::vector<std::int8_t>{-128, 127});
  CHECK(values<std::uint8_t>(amct::onnx::from_onnx(raw<std::uint8_t>(Proto::UINT8, {255}))) ==
        std::vector<std::uint8_t>{255});
  CHECK(values<std::int16_t>(amct::onnx::from_onnx(raw<std::int16_t>(Proto::INT16, {-300}))) ==
        std::vector<std::int16_t>{-300});
  CHECK(values<std::uint16_t>(amct::onnx::from_onnx(raw<std::uint16_t>(Proto::UINT16, {65535}))) ==
        std::vector<std::uint16_t>{65535});
  CHECK(values<std::uint32_t>(amct::onnx::from_onnx(raw<std::uint32_t>(Proto::UINT32, {~0U}))) ==
        std::vector<std::uint32_t>{~0U});
  CHECK(values<Half>(amct::onnx::from_onnx(raw<std::uint16_t>(Proto::FLOAT16, {0x3C00}))) ==
        std::vector<Half>{to_half(1.0F)});
  CHECK(values<std::int32_t>(amct::onnx::from_onnx(raw<std::int32_t>(Proto::INT32, {-7}))) ==
        std::vector<std::int32_t>{-7});
  CHECK(values<std::int64_t>(amct::onnx::from_onnx(raw<std::int64_t>(Proto::INT64, {-7}))) ==
        std::vector<std::int64_t>{-7});
  CHECK(values<std::uint64_t>(amct::onnx::from_onnx(raw<std::uint64_t>(Proto::UINT64, {~std::uint64_t{0}}))) ==
        std::vector<std::uint64_t>{~std::uint64_t{0}});
  CHECK(values<bool>(amct::onnx::from_onnx(raw<std::uint8_t>(Proto::BOOL, {1, 0}))) == std::vector<bool>{true, false});
  const Tensor odd = amct::onnx::from_onnx(raw<std::uint8_t>(Proto::BOOL, {2, 255}));  // no booleans in C++
  CHECK(odd.raw()[0] == std::byte{1});
  CHECK(odd.raw()[1] == std::byte{1});
}

TEST_CASE("Tensors are read from the typed field of every type") {
  Proto f = message(Proto::FLOAT, {2});
  f.add_float_data(1.5F);
  f.add_float_data(-2);
  CHECK(values<float>(amct::onnx::from_onnx(f)) == std::vector<float>{1.5F, -2});
  Proto d = message(Proto::DOUBLE, {1});
  d.add_double_data(1e300);
  CHECK(values<double>(amct::onnx::from_onnx(d)) == std::vector<double>{1e300});
  Proto l = message(Proto::INT64, {1});
  l.add_int64_data(std::int64_t{1} << 40);
  CHECK(values<std::int64_t>(amct::onnx::from_onnx(l)) == std::vector<std::int64_t>{std::int64_t{1} << 40});
  Proto u = message(Proto::UINT64, {1});
  u.add_uint64_data(std::uint64_t{1} << 63);
  CHECK(values<std::uint64_t>(amct::onnx::from_onnx(u)) == std::vector<std::uint64_t>{std::uint64_t{1} << 63});
  Proto n = message(Proto::UINT32, {1});
  n.add_uint64_data(~0U);
  CHECK(values<std::uint32_t>(amct::onnx::from_onnx(n)) == std::vector<std::uint32_t>{~0U});
  Proto h = message(Proto::FLOAT16, {2});
  h.add_int32_data(0x3C00);
  h.add_int32_data(0xC000);
  CHECK(values<Half>(amct::onnx::from_onnx(h)) == std::vector<Half>{to_half(1.0F), to_half(-2.0F)});
  for (const int type : {Proto::INT8, Proto::UINT8, Proto::INT16, Proto::UINT16, Proto::INT32, Proto::BOOL}) {
    Proto i = message(type, {2});
    i.add_int32_data(1);
    i.add_int32_data(0);
    const Tensor tensor = amct::onnx::from_onnx(i);
    CHECK(amct::onnx::to_onnx_type(tensor.type()) == type);
    CHECK(values<std::int32_t>(amct::cast(tensor, ElementType::int32)) == std::vector<std::int32_t>{1, 0});
  }
}

TEST_CASE("Scalars and empty tensors are read") {
  Proto scalar = message(Proto::FLOAT, {});
  scalar.add_float_data(3);
  CHECK(amct::onnx::from_onnx(scalar).shape() == Shape{});
  CHECK(values<float>(amct::onnx::from_onnx(scalar)) == std::vector<float>{3});
  CHECK(amct::onnx::from_onnx(message(Proto::FLOAT, {2, 0})).shape() == Shape{2, 0});
  CHECK(amct::onnx::from_onnx(raw<float>(Proto::FLOAT, {})).size() == 0);
}

TEST_CASE("Data of a wrong length are refused with both lengths") {
  Proto few = message(Proto::FLOAT, {2, 2});
  few.add_float_data(1);
  check_refused(few, ErrorCode::model_corrupt, "has 1 values, expected 4");
  Proto bytes = message(Proto::FLOAT, {2});
  bytes.set_raw_data("1234567");
  check_refused(bytes, ErrorCode::model_corrupt, "has 7 bytes, expected 8");
  check_refused(message(Proto::FLOAT, {1}), ErrorCode::model_corrupt, "has 0 values, expected 1");
  Proto other = message(Proto::FLOAT, {1});
  other.add_int32_data(1);
  check_refused(other, ErrorCode::model_corrupt, "has 0 values, expected 1");
}

TEST_CASE("Impossible dimensions are refused before memory is taken") {
  check_refused(message(Proto::FLOAT, {-1}), ErrorCode::model_corrupt, "has impossible dimensions");
  check_refused(message(Proto::FLOAT, {1 << 20, 1 << 20}), ErrorCode::model_corrupt, "has impossible dimensions");
  check_refused(message(Proto::FLOAT, {std::numeric_limits<std::int64_t>::max(), 2}), ErrorCode::model_corrupt,
                "has impossible dimensions");
  check_refused(message(Proto::FLOAT, {1 << 30}), ErrorCode::model_corrupt, "has 0 values, expected 1073741824");
}

TEST_CASE("Types and storage that amct does not have are refused") {
  check_refused(message(Proto::BFLOAT16, {0}), ErrorCode::model_unsupported, "has element type BFLOAT16");
  check_refused(message(999, {0}), ErrorCode::model_unsupported, "has element type number 999");
  check_refused(message(Proto::STRING, {0}), ErrorCode::model_unsupported, "has element type STRING");
  Proto external = message(Proto::FLOAT, {1});
  external.set_data_location(Proto::EXTERNAL);
  check_refused(external, ErrorCode::model_unsupported, "keeps its data in another file");
}

TEST_CASE("A tensor that is written is read back with equal bytes") {
  for (const ElementType type : kTypes) {
    const Tensor tensor = amct::cast(support::floats({2, 2}, {1, 0, 1, 1}), type);
    Proto written;
    amct::onnx::to_onnx(tensor, "name", written);
    CHECK(written.name() == "name");
    CHECK(written.has_raw_data());
    const Tensor back = amct::onnx::from_onnx(written);
    CHECK(back.type() == type);
    CHECK(back.shape() == tensor.shape());
    REQUIRE(back.bytes() == tensor.bytes());
    CHECK(std::memcmp(back.raw().data(), tensor.raw().data(), back.bytes()) == 0);
  }
}

TEST_CASE("Every graph of a model is visited, outer ones first") {
  ::onnx::GraphProto graph;
  graph.set_name("outer");
  auto& node = *graph.add_node();
  for (const char* name : {"first", "second"}) node.add_attribute()->mutable_g()->set_name(name);
  node.mutable_attribute(0)->mutable_g()->add_node()->add_attribute()->mutable_g()->set_name("inner");
  std::string order;
  amct::onnx::for_each_graph(std::as_const(graph), [&](const ::onnx::GraphProto& g) { order += g.name() + ' '; });
  CHECK(order == "outer first inner second ");
  amct::onnx::for_each_graph(graph, [](::onnx::GraphProto& g) { g.set_name("x"); });
  CHECK(node.attribute(0).g().node(0).attribute(0).g().name() == "x");
}
