// The one file that is no C: the standard library of C++ has the shortest decimals of floating point numbers, that of C has not, and Debian has no C
// library for them. Per number of 17 digits: 32 ns by dragonbox, 42 ns by std::to_chars, 560 ns by printf with 15 to 17 digits until one reads back;
// reading takes 23 ns by std::from_chars and 96 ns by strtod.
#include "base/shortest_number.h"

#include <dragonbox/dragonbox.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

static const char two_digits[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657585960616263646566"
                                 "676869707172737475767778798081828384858687888990919293949596979899";

static void put_two(char *out, uint32_t value) {
    std::memcpy(out, two_digits + static_cast<size_t>(2) * value, 2);
}

// Writes `value` so that it ends at `end`; returns where it begins. Eight digits at once: their divisions do not wait for each other.
static char *put_backwards(char *end, uint64_t wide) {
    while (wide >= 100000000) {
        const uint32_t low = static_cast<uint32_t>(wide % 100000000), high4 = low / 10000, low4 = low % 10000;
        wide /= 100000000;
        end -= 8;
        put_two(end, high4 / 100);
        put_two(end + 2, high4 % 100);
        put_two(end + 4, low4 / 100);
        put_two(end + 6, low4 % 100);
    }
    uint32_t value = static_cast<uint32_t>(wide);
    while (value >= 100) {
        end -= 2;
        put_two(end, value % 100);
        value /= 100;
    }
    if (value >= 10) {
        end -= 2;
        put_two(end, value);
        return end;
    }
    *--end = static_cast<char>('0' + value);
    return end;
}

// Most whole numbers are small: their texts, so that the processor need not guess how many digits each has.
enum { SMALL_TEXTS = 1000 };
struct small_text {
    char digits[3] = {};
    uint8_t size = 0;
};
struct small_texts {
    small_text of[SMALL_TEXTS];
    constexpr small_texts() : of() {
        for (unsigned i = 0; i < SMALL_TEXTS; i++) {
            const unsigned size = i < 10 ? 1 : i < 100 ? 2 : 3;
            for (unsigned k = size, left = i; k-- > 0; left /= 10) {
                of[i].digits[k] = static_cast<char>('0' + left % 10);
            }
            of[i].size = static_cast<uint8_t>(size);
        }
    }
};
static constexpr small_texts small;

// The copies below have a fixed size, which is faster than the exact one: the surplus is overwritten later, or lies after the end, where there is room.
enum { DIGITS_MAX = 17, ZEROS_MAX = 8 };

// d.ddde-07: with the sign and two digits of the exponent at least, as printf has it.
static char *put_scientific(char *out, const char *digits, int n, int exponent) {
    std::memcpy(out + 1, digits, DIGITS_MAX);
    out[0] = digits[0];
    out[1] = '.';
    out += n > 1 ? n + 1 : 1;
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    unsigned size = static_cast<unsigned>(exponent < 0 ? -exponent : exponent);
    if (size >= 100) {
        *out++ = static_cast<char>('0' + size / 100);
        size %= 100;
    }
    put_two(out, size);
    return out + 2;
}

// The n digits times 10^(exponent - n + 1), without an exponent; with few zeros, else the other form is shorter.
static char *put_fixed(char *out, const char *digits, int n, int exponent) {
    if (exponent < 0) {
        std::memcpy(out, "0.000000", ZEROS_MAX);
        out += 1 - exponent;
        std::memcpy(out, digits, DIGITS_MAX);
        return out + n;
    }
    const int whole = exponent + 1;
    std::memcpy(out, digits, DIGITS_MAX);
    if (whole >= n) {
        std::memcpy(out + n, "00000000", ZEROS_MAX);
        return out + whole;
    }
    std::memcpy(out + whole + 1, digits + whole, DIGITS_MAX);
    out[whole] = '.';
    return out + n + 1;
}

// What std::to_chars writes, in half to three quarters of its time: the shorter of both forms. From 2^digits on it knows more digits of whole numbers than are needed.
template <typename T> static size_t shortest(T value, char *out) {
    constexpr T whole_max = static_cast<T>(UINT64_C(1) << std::numeric_limits<T>::digits);
    const T size = std::fabs(value);
    if (size >= whole_max) {
        return static_cast<size_t>(std::to_chars(out, out + SHORTEST_ROOM, value).ptr - out);
    }
    char *at = out, digits[3 * DIGITS_MAX] = {0}, *end = digits + DIGITS_MAX + 1;
    if (std::signbit(value)) {
        *at++ = '-';
    }
    const uint32_t whole = size < SMALL_TEXTS ? static_cast<uint32_t>(size) : 0;
    if (static_cast<T>(whole) == size) {
        std::memcpy(at, small.of[whole].digits, sizeof small.of[whole].digits);
        return static_cast<size_t>(at + small.of[whole].size - out);
    }
    const auto decimal = jkj::dragonbox::to_decimal(size, jkj::dragonbox::policy::sign::ignore);
    const char *begin = put_backwards(end, decimal.significand);
    const int n = static_cast<int>(end - begin), exponent = n - 1 + decimal.exponent;
    const int fixed = exponent < 0 ? n - exponent + 1 : exponent + 1 < n ? n + 1 : exponent + 1;
    const int scientific = n + (n > 1) + (exponent >= 100 || exponent <= -100 ? 5 : 4);
    at = fixed <= scientific ? put_fixed(at, begin, n, exponent) : put_scientific(at, begin, n, exponent);
    return static_cast<size_t>(at - out);
}

size_t whole_digits(uint64_t value, char out[SHORTEST_ROOM]) {
    enum { WHOLE_MAX = 20 };
    if (value < SMALL_TEXTS) {
        std::memcpy(out, small.of[value].digits, sizeof small.of[value].digits);
        return small.of[value].size;
    }
    char digits[2 * WHOLE_MAX] = {0}, *end = digits + WHOLE_MAX;
    const char *begin = put_backwards(end, value);
    std::memcpy(out, begin, WHOLE_MAX);
    return static_cast<size_t>(end - begin);
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

// The power of ten of the first digit that is not 0; beyond the range of a double in either direction exact enough.
static long long magnitude(std::string_view number) {
    const size_t e = number.find_first_of("eE");
    const std::string_view digits = number.substr(0, e);
    const size_t dot = std::min(digits.find('.'), digits.size()), first = digits.find_first_of("123456789");
    long long power = 0;
    if (e != number.npos) {
        const char *begin = number.data() + e + 1 + (number[e + 1] == '+'), *end = number.data() + number.size();
        if (std::from_chars(begin, end, power).ec == std::errc::result_out_of_range) {
            power = (*begin == '-' ? -1 : 1) * (std::numeric_limits<long long>::max() / 2);
        }
    }
    if (first == digits.npos) {
        return std::numeric_limits<long long>::min();
    }
    return power + static_cast<long long>(dot) - static_cast<long long>(first) - (first < dot);
}

double shortest_read(const char *text, size_t size) {
    double value = 0;
    if (std::from_chars(text, text + size, value).ec != std::errc::result_out_of_range) {
        return value;
    }
    // It does not say which of the two ends was passed.
    std::string_view number(text, size);
    return std::copysign(magnitude(number) < 0 ? 0.0 : HUGE_VAL, number[0] == '-' ? -1.0 : 1.0);
}
