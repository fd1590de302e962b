/* Handlers of reports that each format's own tools print. */
#ifndef SERVER_API_REPORTS_REPORTS_H
#define SERVER_API_REPORTS_REPORTS_H

#include "http/http.h"

/* carla.c */
void api_carla_info(struct http_request *r);
void api_carla_collisions(struct http_request *r);
void api_carla_blocked(struct http_request *r);
void api_carla_actors(struct http_request *r);
void api_carla_trajectory(struct http_request *r);
void api_carla_state(struct http_request *r);
/* bag.c */
void api_bag_info(struct http_request *r);
/* tide.c */
void api_tide_channels(struct http_request *r);
void api_tide_introspection(struct http_request *r);
/* nanover.c */
void api_nanover_frame(struct http_request *r);
void api_nanover_state(struct http_request *r);
void api_nanover_resets(struct http_request *r);
void api_nanover_changes(struct http_request *r);
void api_nanover_energies(struct http_request *r);
void api_nanover_frames(struct http_request *r);

#endif
