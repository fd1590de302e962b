/* The memory that requests take, and conversions on the threads that are left. */
#ifndef SERVER_API_RESERVE_H
#define SERVER_API_RESERVE_H

#include "convert/conversion.h"
#include "http/http.h"

/* Reserves the memory of these open recordings. False: replied. */
bool api_reserve_open(struct http_request *r, struct reel_recording *const *recordings, uint32_t n);
/* Reserves the memory of a stream of these recordings (http_reserve()); `decodes`: also of their messages' values.
 * False: replied. */
bool api_reserve_stream(struct http_request *r, struct reel_recording *const *recordings, uint32_t n, bool decodes);
enum { API_PRINCIPAL_TEXT = 64 };
/* Who asked, for what is fair among principals: the token or the user of a proxy, else the address. Returns `out`. */
const char *api_principal(const struct http_request *r, char out[API_PRINCIPAL_TEXT]);

/* A conversion on the server's threads, whose turns are those of the request's client. NULL with err. */
struct reel_conversion *api_conversion(struct http_request *r, const struct reel_writer *writer,
                                       struct reel_recording *const *recordings, uint32_t n,
                                       const struct reel_selection *selection, const struct reel_write_options *options,
                                       struct reel_error *err);
/* The memory of the threads that render it; where there is little, it is on fewer of them. False: replied. */
bool api_reserve_threads(struct http_request *r, struct reel_conversion *conversion);

#endif
