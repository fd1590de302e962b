/* The bytes of one upload on their way to its object. They lie in a local file; a part is sent as soon as it is whole,
 * at most four at a time; whoever writes faster than the bucket takes them waits. A file that ends within the first
 * part becomes an object by one PUT.
 *
 * An upload session survives its process, and goes on in another: sending_confirm() sends what follows the last whole
 * part as an object of its own and describes all of it in a note for the session's row, from which sending_resume()
 * goes on, with the hash.
 *
 * One thread at a time. */
#ifndef SERVER_STORE_BUCKET_SEND_H
#define SERVER_STORE_BUCKET_SEND_H

#include "base/digest.h"
#include "store/bucket/bucket.h"

struct sending;
/* `fd` is the local file, which must stay open. */
struct sending *sending_new(struct bucket *b, int fd, struct reel_error *err);
/* Writes what was not yet sent as a part to the file; sets its size and the hash there. REEL_DAMAGED: the note makes no
 * sense. */
struct sending *sending_resume(struct bucket *b, int fd, const char *note, uint64_t *size, struct digest *hash,
                               struct reel_error *err);
/* Where the part being filled ends: there sending_grow() must be called, with the hash of all bytes before. */
uint64_t sending_next(const struct sending *s);
bool sending_grow(struct sending *s, const struct digest *hash, struct reel_error *err);
/* How many bytes are sent as parts, and the hash of them. */
uint64_t sending_hash(const struct sending *s, struct digest *out);
/* The file was cut to `size`: parts that it does not fill any more are sent again. REEL_CHANGED: bytes that have to be
 * sent again are not in the file any more. */
bool sending_cut(struct sending *s, uint64_t size, struct reel_error *err);
/* Bytes from here on stay in the file, for sending_cut(). */
void sending_hold(struct sending *s, uint64_t offset);
/* All `size` bytes of the file are in the bucket when this returns, or with `parts_only` the whole parts; *sure: how
 * many. The note is to be freed; once it is in the row, sending_confirmed() may be called. */
char *sending_confirm(struct sending *s, uint64_t size, bool parts_only, uint64_t *sure, struct reel_error *err);
void sending_confirmed(struct sending *s);
/* The object is complete; its location below the store's prefix. */
const char *sending_end(struct sending *s, uint64_t size, struct reel_error *err);
/* The note as it is now, to be freed. */
char *sending_note(struct sending *s, struct reel_error *err);
/* The location of the object that a note names; false: it names none, or none that is known to be `complete`. */
bool sending_location(const char *note, bool complete, char out[STORE_LOCATION_MAX]);
uint64_t sending_kept(const struct sending *s); /* the file has the bytes from here on */
/* Removes what is in the bucket. */
void sending_abandon(struct sending *s);
void sending_free(struct sending *s); /* what was sent stays; NULL is fine */
/* Removes what the note of a session names. */
void sending_forget(struct bucket *b, const char *note);

#endif
