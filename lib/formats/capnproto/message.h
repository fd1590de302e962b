/* Cap'n Proto messages read in place, every pointer checked. A stream is u32 (segments − 1), u32 words of each segment,
 * padding to 8 bytes, then the segments. A word is 8 bytes, little-endian. The first word of the first segment is the
 * root's pointer. Pointers, by their two lowest bits:
 *   0 struct: i30 words from its end to the data section, u16 words of data, u16 pointers
 *   1 list:   i30 likewise, u3 size of the elements, u29 elements (7: words, behind one that looks like a struct
 * pointer) 2 far:    bit 2 double, u29 words in the segment, u32 segment; there lies the pointer, or a far pointer and
 * a tag 3 other: a capability After a pointer that does not fit everything is empty and `failed` stays set. */
#ifndef REEL_FORMATS_CAPNPROTO_MESSAGE_H
#define REEL_FORMATS_CAPNPROTO_MESSAGE_H

#include "base/bytes.h"
#include "base/limits.h"

struct cp_message {
    struct reel_bytes all;
    struct reel_bytes segments[REEL_CAPNPROTO_SEGMENTS_MAX];
    uint32_t n;
    bool failed;
    size_t failed_at; /* in `all` */
};
struct cp_place { /* of a pointer */
    uint32_t segment;
    size_t at;
};
struct cp_struct {
    struct reel_bytes data; /* may be a part of a byte: see bits */
    uint64_t bits;
    struct cp_place pointers;
    uint32_t n_pointers;
};
enum cp_size { CP_VOID, CP_BIT, CP_1, CP_2, CP_4, CP_8, CP_POINTER, CP_COMPOSITE };
struct cp_list {
    enum cp_size size;
    uint32_t n;
    struct reel_bytes data;
    struct cp_place place; /* of the first element */
    uint16_t words;        /* of data in each element of CP_COMPOSITE */
    uint16_t n_pointers;
};

/* False: the bytes are no stream; `failed` is set. */
bool cp_message_open(struct cp_message *m, struct reel_bytes all);
struct cp_place cp_root(void);

/* What a pointer leads to; a null pointer, and one to something else, to nothing. */
enum cp_kind { CP_NULL, CP_STRUCT, CP_LIST, CP_OTHER };
enum cp_kind cp_follow(struct cp_message *m, struct cp_place at, struct cp_struct *s, struct cp_list *l);
struct cp_struct cp_struct_at(struct cp_message *m, struct cp_place at);
struct cp_list cp_list_at(struct cp_message *m, struct cp_place at);

/* A number in the data section, by its position in units of its size; 0 beyond the end. bits: 1, 8, 16, 32, 64. */
uint64_t cp_number(const struct cp_struct *s, uint64_t position, unsigned bits);
/* False: there are not so many pointers. */
bool cp_pointer(const struct cp_struct *s, uint32_t position, struct cp_place *at);
/* An element as the struct that it is, or that it is the beginning of. */
struct cp_struct cp_element(const struct cp_list *l, uint32_t i);
/* Bytes of a list of bytes; of a text without its NUL. */
struct reel_bytes cp_bytes(const struct cp_list *l, bool is_text);

#endif
