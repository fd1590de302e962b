/* The simPod JSON data source of Grafana under /grafana, and the routes of its predecessor SimpleJSON. A target is
 * "RECORDING:/topic.field", or "events"; a recording is named by its id, or as elsewhere (name:collection/name). */
#ifndef SERVER_API_GRAFANA_GRAFANA_H
#define SERVER_API_GRAFANA_GRAFANA_H

#include "http/http.h"

#include <stdio.h>

#define GRAFANA_EVENTS "events"
enum { GRAFANA_TEXT_MAX = 2048, GRAFANA_VALUES_MAX = 64 };

/* The "range" of a query: sets *there when it has both ends and a length. False: replied. */
bool grafana_range(struct http_request *r, const json_t *body, int64_t *from_ns, int64_t *to_ns, bool *there);
/* Grafana escapes variables as for a regular expression: "\/odom\.x" means /odom.x. False: too long. */
bool grafana_plain_text(const char *text, char out[GRAFANA_TEXT_MAX]);
/* "(a|b)" is how Grafana writes a variable of several values. Splits the text in place; returns how many there are. */
size_t grafana_split_values(char *text, const char *out[GRAFANA_VALUES_MAX]);
void grafana_put_string(FILE *f, const char *text); /* quoted; what is no UTF-8 is "" */
long long grafana_ms(int64_t ns, int64_t shift_ns);
/* Whether a target, or the query of an annotation, is the name of all events. */
bool grafana_is_events(const char *target);
/* Writes the members "columns" and "rows" of a table of events: those in the range, of payload.recording or of all. May
 * reply; the members are complete then too. */
void grafana_put_events(struct http_request *r, FILE *out, const json_t *payload, bool has_range, int64_t from_ns,
                        int64_t to_ns);

/* ---- the handlers */
/* grafana.c */
void api_grafana(struct http_request *r);
void api_grafana_query(struct http_request *r);
/* lists.c */
void api_grafana_metrics(struct http_request *r);
void api_grafana_payload_options(struct http_request *r);
void api_grafana_variable(struct http_request *r);
void api_grafana_search(struct http_request *r);
void api_grafana_tag_keys(struct http_request *r);
void api_grafana_tag_values(struct http_request *r);
/* events.c */
void api_grafana_annotations(struct http_request *r);

#endif
