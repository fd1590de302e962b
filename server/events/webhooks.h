/* Webhooks: changes delivered to other servers by POST, in order, until they answer 2xx or a day has passed. Each hook
 * is delivered by a job of its own (kind "webhook", its key is the hook's row), so receivers do not delay each other.
 * The position is in the catalog (catalog/changes.h), so a restart continues where the last server stopped. At least
 * once: a receiver recognizes a repetition by its seq.
 */
#ifndef SERVER_EVENTS_WEBHOOKS_H
#define SERVER_EVENTS_WEBHOOKS_H

#include "app.h"
#include "catalog/changes.h"

enum { WEBHOOK_URL_MAX = 2048, WEBHOOK_SECRET_MIN = 16, WEBHOOK_SECRET_MAX = 128 };

struct job_call;
bool webhook_run(struct app *app, const struct job_call *call, struct reel_error *err);
/* Adds a job for each hook that has changes to deliver. Returns false, as there is nothing more to add (work/jobs.h,
 * job_schedule). */
bool webhooks_add_jobs(struct app *app);

/* Is this URL allowed? REEL_ARGUMENT with the reason. Names are checked again when they have been resolved. */
bool webhook_url_check(const char *url, bool private, struct reel_error *err);

/* ---- webhook_send.c */

struct webhook_sender;
/* `private`: addresses of this machine and of private networks are allowed, and plain HTTP. A POST is aborted when
 * progress says so. */
struct webhook_sender *webhook_sender_new(bool private, const struct reel_progress *progress, struct reel_error *err);
void webhook_sender_free(struct webhook_sender *s);
/* Delivers the change; sets result->delivered, status, took_ms and problem (owned by the sender, until the next call).
 */
void webhook_send(struct webhook_sender *s, const struct webhook *w, const json_t *change,
                  struct webhook_result *result);
/* "t=…,v1=…": HMAC-SHA-256 over "t.body" in hex. */
enum { WEBHOOK_SIGNATURE = 128 };
bool webhook_sign(const char *secret, int64_t time_s, const char *body, char out[WEBHOOK_SIGNATURE]);
/* An address of this machine, of a private network, or otherwise not public. */
struct sockaddr;
bool webhook_is_private(const struct sockaddr *address);

#endif
