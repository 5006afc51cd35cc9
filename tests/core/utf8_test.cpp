// SPDX-License-Identifier: Apache-2.0
#include <amct/core/utf8.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

using amct::find_invalid_utf8;

TEST_CASE("UTF-8 of every length is accepted, at the ends of its ranges too") {
  for (const std::string text : {"", "abc", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
                                 "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    CAPTURE(text);
    CHECK_FALSE(find_invalid_utf8(text));
    CHECK_FALSE(find_invalid_utf8(text + "a" + text));
  }
  CHECK_FALSE(find_invalid_utf8(std::string(3, '\0')));
}

TEST_CASE("what is no UTF-8 is found where it starts") {
  for (const std::string text :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x9F\x80", "\xE0\xA0", "\xED\xA0\x80",
        "\xEF\xBF\xC0", "\xF0\x8F\x80\x80", "\xF0\x90\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    CAPTURE(text);
    CHECK(find_invalid_utf8(text) == std::size_t{0});
    CHECK(find_invalid_utf8("\xC3\xA9" + text + "a") == std::size_t{2});
  }
}

TEST_CASE("a byte order mark is cut off, once") {
  CHECK(amct::without_byte_order_mark("\xEF\xBB\xBF\xEF\xBB\xBF") == "\xEF\xBB\xBF");
  CHECK(amct::without_byte_order_mark("\xEF\xBB") == "\xEF\xBB");
  CHECK(amct::without_byte_order_mark("") == "");
}
