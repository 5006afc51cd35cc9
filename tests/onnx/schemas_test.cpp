// SPDX-License-Identifier: Apache-2.0
#include <amct/onnx/schemas.hpp>

#include <doctest/doctest.h>

TEST_CASE("Operators that nobody knows, or knows no longer, pass the checker as they are") {
  const amct::onnx::LenientSchemas schemas;
  CHECK(schemas.GetSchema("Relu", 13, "")->Name() == "Relu");
  CHECK(schemas.GetSchema("Relu", 13, "")->since_version() == 13);
  ::onnx::NodeProto node;
  node.set_op_type("Nonsense");
  node.add_output("y");
  for (int i = 0; i < 40; ++i) node.add_input("x");
  auto& attribute = *node.add_attribute();
  attribute.set_name("own");
  attribute.set_type(::onnx::AttributeProto::INT);
  schemas.GetSchema("Nonsense", 13, "")->Verify(node);
  schemas.GetSchema("Upsample", 13, "")->Verify(node);  // deprecated since opset 10
}

TEST_CASE("Shape inference knows the operators that ONNX knows") {
  const amct::onnx::GuardedSchemas schemas;
  CHECK(schemas.GetSchema("Relu", 13, "")->Name() == "Relu");
  CHECK(schemas.GetSchema("Relu", 14, "") == schemas.GetSchema("Relu", 15, ""));
  CHECK(schemas.GetSchema("Nonsense", 13, "") == nullptr);
  CHECK(schemas.GetSchema("Upsample", 13, "") == nullptr);
}

TEST_CASE("Shape inference knows AMCT's nodes") {
  const amct::onnx::GuardedSchemas schemas;
  for (const char* name : {"AscendQuant", "AscendDequant", "AscendAntiQuant", "AscendReQuant"}) {
    REQUIRE(schemas.GetSchema(name, 13, "") != nullptr);
    CHECK(schemas.GetSchema(name, 13, "")->Name() == name);
    CHECK(schemas.GetSchema(name, 13, "com.example") == nullptr);
  }
}
