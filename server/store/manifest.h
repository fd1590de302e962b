/* The JSON files that outlive the catalog: the manifest of each content (for its members see
 * manifests/manifest_entry.c), and in the data folder collections.json {"reel_collections": 1, "descriptions": {name:
 * text}} and settings.json (maintenance/settings.h). Each is written to a new file, which then replaces the old one. */
#ifndef SERVER_STORE_MANIFEST_H
#define SERVER_STORE_MANIFEST_H

#include <jansson.h>

#include "reel/error.h"

struct store;

/* update() gets the manifest of the content (NULL: none) and returns the new one, a new reference; NULL: no memory. One
 * update runs at a time. */
bool store_update_manifest(struct store *store, const char *content,
                           json_t *(*update)(void *context, const json_t *old), void *context, struct reel_error *err);
/* Removes the entry of one recording; fine when there is no manifest. */
bool store_forget_manifest(struct store *store, const char *content, const char *id, struct reel_error *err);
/* The manifest of a content, a new reference; REEL_NOT_FOUND, or REEL_DAMAGED when it is malformed. */
json_t *store_load_manifest(const struct store *store, const char *content, struct reel_error *err);

/* With a bucket: adds to a part of a manifest where its object is, and enters the objects of a manifest's parts into
 * the directory. */
void store_put_object(struct store *store, const char *sha256, json_t *part);
bool store_enter_objects(struct store *store, const json_t *manifest, struct reel_error *err);

/* The entry of a recording in a manifest, or NULL. */
json_t *store_manifest_entry(const json_t *manifest, const char *id);
/* The entries of a manifest (NULL or malformed: none), a new reference, with `entry`, which it takes, replacing the one
 * of `id`; NULL removes it. */
json_t *store_manifest_with(const json_t *manifest, const char *id, json_t *entry);

/* descriptions: {"name": "description"} as JSON. */
bool store_write_collections(struct store *store, const char *descriptions, struct reel_error *err);
/* {"name": "description"}, a new reference; an empty object when there is none. NULL: it cannot be read. */
json_t *store_load_collections(const struct store *store, struct reel_error *err);

/* Only the owner may read settings.json. */
bool store_write_settings(struct store *store, const json_t *settings, struct reel_error *err);
/* *out: a new reference, or NULL when there is none. False: it cannot be read. */
bool store_load_settings(const struct store *store, json_t **out, struct reel_error *err);

#endif
