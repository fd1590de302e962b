/* The memory that requests take, and conversions on the threads that are left. */
#ifndef SERVER_API_RESERVE_H
#define SERVER_API_RESERVE_H

#include "convert/conversion.h"
#include "http/http.h"

/* Reserves the memory of these open recordings. False: replied. */
bool api_reserve_open(struct http_request *r, struct reel_recording *const *recordings, uint32_t n);
enum api_stream_use {
    API_AS_STORED = 0,
    API_DECODES = 1, /* also of their messages' values */
    API_CONVERTS = 2 /* also of the translation of each channel, by a view or to another encoding */
};
/* Reserves the memory of a stream of these recordings, and `more` bytes of what it fills, at once: requests that each
 * hold a part and wait for the rest would wait for one another. False: replied. */
bool api_reserve_stream(struct http_request *r, struct reel_recording *const *recordings, uint32_t n, unsigned use,
                        uint64_t more);
/* Bytes of a stream of this recording that decodes and converts. */
uint64_t api_stream_memory(const struct reel_recording *recording);
/* What a writer and a selection need of these. */
unsigned api_stream_use(const struct reel_writer *writer, const struct reel_selection *selection);
/* Bytes of these that a stream of this recording does not use while it waits for messages; api_open_messages() has
 * reserved them. `whole`: when it is closed meanwhile. */
uint64_t api_idle_memory(const struct reel_recording *recording, bool whole);

/* A conversion on the server's threads, whose turns are those of the request's client. NULL with err. */
struct reel_conversion *api_conversion(struct http_request *r, const struct reel_writer *writer,
                                       struct reel_recording *const *recordings, uint32_t n,
                                       const struct reel_selection *selection, const struct reel_write_options *options,
                                       struct reel_error *err);
/* Reserves the memory of the threads that render it; where there is little, it is on fewer of them. */
void api_reserve_threads(struct http_request *r, struct reel_conversion *conversion);

#endif
