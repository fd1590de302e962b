/* The definitions that users supply: those below the folders of --definitions, and those in the catalog, which count
 * where both have a type. */
#ifndef SERVER_DEFINITIONS_SET_H
#define SERVER_DEFINITIONS_SET_H

#include "app.h"

struct definitions;

struct definitions *definitions_new(const struct app_config *config, struct reel_error *err);
void definitions_free(struct definitions *d); /* NULL is fine */

/* Uses those of the catalog from now on if they have changed since, by whichever server. */
bool definitions_refresh(struct app *app, struct reel_error *err);

#endif
