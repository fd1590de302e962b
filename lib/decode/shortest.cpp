// The one file that is no C: the standard library of C++ has the shortest decimals of floating point numbers, that of C has not.
#include "decode/shortest.h"

#include <charconv>
#include <cmath>
#include <string_view>

template <typename T> static size_t shortest(T value, char *out) {
    return static_cast<size_t>(std::to_chars(out, out + SHORTEST_ROOM, value).ptr - out);
}

size_t shortest_double(double value, char out[SHORTEST_ROOM]) {
    return shortest(value, out);
}
size_t shortest_float(float value, char out[SHORTEST_ROOM]) {
    return shortest(value, out);
}
size_t general_double(double value, char out[SHORTEST_ROOM]) {
    return static_cast<size_t>(std::to_chars(out, out + SHORTEST_ROOM, value, std::chars_format::general, 6).ptr - out);
}

double shortest_read(const char *text, size_t size) {
    double value = 0;
    if (std::from_chars(text, text + size, value).ec != std::errc::result_out_of_range) {
        return value;
    }
    // It does not say which of the two ends was passed.
    std::string_view number(text, size);
    size_t e = number.find_first_of("eE"), minus = number[0] == '-';
    bool small = e == number.npos ? number[minus] == '0' : number[e + 1] == '-';
    return std::copysign(small ? 0.0 : HUGE_VAL, minus ? -1.0 : 1.0);
}
