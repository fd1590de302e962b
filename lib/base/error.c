/* Fills struct reel_error: the text is always one line of valid UTF-8, whatever bytes came from a file. */
#include "reel/error.h"
#include "base/c_locale.h"
#include "base/error.h"
#include "syntax/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = sizeof((struct reel_error *)0)->text };

/* Texts are formatted here first, because the arguments may include the err->text that is replaced. */
struct draft {
    char text[TEXT_MAX];
};

__attribute__((format(printf, 2, 0))) static void draft_format(struct draft *draft, const char *format, va_list args) {
    C_LOCALE;
    if (vsnprintf(draft->text, sizeof draft->text, format, args) < 0) {
        draft->text[0] = '\0';
    }
}

static void draft_append(struct draft *draft, const char *text) {
    size_t used = strlen(draft->text);
    size_t size = strnlen(text, TEXT_MAX - 1 - used);
    memcpy(draft->text + used, text, size);
    draft->text[used + size] = '\0';
}

static void draft_join(struct draft *draft, const char *second) {
    draft_append(draft, ": ");
    draft_append(draft, second);
}

/* Replaces control characters and bytes that are not UTF-8 (including a character cut at the end) by '?'. */
static void draft_store(const struct draft *draft, struct reel_error *err) {
    size_t size = strlen(draft->text);
    for (size_t i = 0; i < size;) {
        size_t length = utf8_length((const uint8_t *)draft->text + i, size - i);
        bool plain = length > 1 || (length == 1 && draft->text[i] >= 0x20 && draft->text[i] != 0x7f);
        if (plain) {
            memcpy(err->text + i, draft->text + i, length);
        } else {
            err->text[i] = '?';
        }
        i += plain ? length : 1;
    }
    err->text[size] = '\0';
}

static void error_set(struct reel_error *err, enum reel_code code, int sys, const struct draft *draft) {
    err->code = code;
    err->sys = sys;
    draft_store(draft, err);
}

bool reel_fail(struct reel_error *err, enum reel_code code, const char *format, ...) {
    if (err) {
        struct draft draft;
        va_list args;
        va_start(args, format);
        draft_format(&draft, format, args);
        va_end(args);
        error_set(err, code, 0, &draft);
    }
    return false;
}

bool reel_fail_errno(struct reel_error *err, const char *format, ...) {
    int sys = errno;
    C_LOCALE;
    enum reel_code code = sys == ENOSPC || sys == EDQUOT ? REEL_NO_SPACE : sys == EROFS ? REEL_READ_ONLY : REEL_IO;
    if (err) {
        struct draft draft;
        va_list args;
        va_start(args, format);
        draft_format(&draft, format, args);
        va_end(args);
        char memory[128];
        draft_join(&draft, strerror_r(sys, memory, sizeof memory));
        error_set(err, code, sys, &draft);
    }
    return false;
}

bool reel_error_at(struct reel_error *err, const char *where, ...) {
    if (err) {
        struct draft draft;
        va_list args;
        va_start(args, where);
        draft_format(&draft, where, args);
        va_end(args);
        draft_join(&draft, err->text);
        draft_store(&draft, err);
    }
    return false;
}

bool reel_error_pass(struct reel_error *err, const struct reel_error *own) {
    if (err) {
        *err = *own;
    }
    return false;
}

bool reel_error_ignore(struct reel_error *err, const struct reel_error *own) {
    return !reel_is_transient(own->code) || reel_error_pass(err, own);
}

bool reel_fail_memory(struct reel_error *err) {
    return reel_fail(err, REEL_NO_MEMORY, "out of memory");
}

bool reel_is_transient(enum reel_code code) {
    return code == REEL_IO || code == REEL_NO_SPACE || code == REEL_NO_MEMORY || code == REEL_CANCELLED ||
           code == REEL_READ_ONLY || code == REEL_CATALOG || code == REEL_BUSY;
}
