// SPDX-License-Identifier: Apache-2.0
#include <amct/protobuf/text_walker.hpp>

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace {

using amct::protobuf::detail::TextCursor;
using amct::protobuf::detail::TextWalker;

/// The events as text: a field is "name:", with the names of the messages around it before.
std::string walked(std::string_view text) {
  TextWalker walker(text);
  std::string result;
  for (TextWalker::Event event; walker.next(event);) {
    switch (event.kind) {
      case TextWalker::Kind::field:
        for (std::size_t i = 0; i < walker.depth(); ++i) result += walker.name_at(i) + '.';
        result += walker.name() + ':';
        break;
      case TextWalker::Kind::value: result += event.text + (event.is_number ? "#" : ""); break;
      case TextWalker::Kind::open: result += '{'; break;
      case TextWalker::Kind::close: result += '}'; break;
      case TextWalker::Kind::list_open: result += '['; break;
      case TextWalker::Kind::list_close: result += ']'; break;
    }
    result += ' ';
  }
  return result;
}

}  // namespace

TEST_CASE("fields, values and messages are told apart") {
  CHECK(walked("a: 1 b { c: -2.5e3 d: 'x' } e < f: YES >") == "a: 1# b: { b.c: -2.5e3# b.d: 'x' } e: { e.f: YES } ");
  CHECK(walked("a : { b: inf }; c: -nan, d: 1") == "a: { a.b: inf } c: -nan d: 1# ");
  CHECK(walked("s: \"a\" 'b' t: 1") == "s: \"a\" 'b' t: 1# ");
}

TEST_CASE("lists hold values or messages") {
  CHECK(walked("a: [1, -2] b: 3") == "a: [ 1# -2# ] b: 3# ");
  CHECK(walked("a: [{b: 1}, <b: 2>] c: 3") == "a: [ { a.b: 1# } { a.b: 2# } ] c: 3# ");
  CHECK(walked("a: [] b: 1") == "a: [ ] b: 1# ");
}

TEST_CASE("comments are passed over and garbage ends somewhere") {
  CHECK(walked("# a: 1\nb: 2 # c") == "b: 2# ");
  CHECK(walked("").empty());
  CHECK(walked("}} >").find("}") != std::string::npos);
  CHECK(walked("a: \"x\n b: 1").find("a:") == 0);
}

TEST_CASE("walking ends below the deepest level") {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "a{";
  const std::string result = walked(text);
  CHECK(result.size() < 10000);
  CHECK(result.find("a: {") == 0);
}

TEST_CASE("positions are those of the parser and a cursor turns them into bytes") {
  const std::string text = "a {\n\tlong\t: 'x'  y: 2 }";
  TextWalker walker(text);
  TextCursor cursor(text);
  TextWalker::Event event;
  for (int i = 0; i < 3; ++i) REQUIRE(walker.next(event));  // a, {, long
  CHECK(walker.name() == "long");
  CHECK(event.start.line == 1);
  CHECK(event.start.column == 8);
  CHECK(event.end.column == 16);
  CHECK(cursor.offset_of(event.start) == text.find("long"));
  CHECK(cursor.offset_of(event.end) == text.find(':'));
  REQUIRE(walker.next(event));
  CHECK(cursor.offset_of(event.start) == text.find("'x'"));
  CHECK(cursor.offset_of(event.end) == text.find("'x'") + 3);
  CHECK(cursor.offset_of({1, 100}) == text.size());
  CHECK(TextCursor("a\nb").offset_of({0, 5}) == 1);
  CHECK(TextCursor("a\nb").offset_of({7, 0}) == 3);
}
