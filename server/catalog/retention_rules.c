/* See retention_rules.h. */
#include "catalog/retention_rules.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "catalog/catalog_internal.h"
#include "catalog/maintenance.h"
#include "json_whole.h"
#include "reel/time.h"
#include "stream/stream.h"

static const char KEY[] = "retention";

static bool check_members(const json_t *object, const char *list, size_t at, const char *const *known,
                          struct reel_error *err) {
    const char *key;
    json_t *value;
    if (!json_is_object(object)) {
        return reel_fail(err, REEL_ARGUMENT, "%s[%zu] is not an object", list, at);
    }
    json_object_foreach((json_t *)object, key, value) {
        size_t i = 0;
        while (known[i] && strcmp(known[i], key) != 0) {
            i++;
        }
        if (!known[i]) {
            return reel_fail(err, REEL_ARGUMENT, "%s[%zu]: \"%.60s\" is not a known member", list, at, key);
        }
    }
    const char *glob = json_string_value(json_object_get(object, "collection"));
    return (glob && *glob && strlen(glob) <= 255) ||
           reel_fail(err, REEL_ARGUMENT, "%s[%zu]: collection is a name or glob", list, at);
}

static bool is_count(const json_t *value) {
    return !value || (json_is_integer(value) && json_integer_value(value) >= 0);
}

static bool check_keep(const json_t *keep, size_t at, struct reel_error *err) {
    const char *key;
    json_t *value;
    if (keep && (!json_is_object(keep) || json_object_size(keep) > RETENTION_KEEP_MAX)) {
        return reel_fail(err, REEL_ARGUMENT, "rules[%zu]: keep is an object of at most %d tags", at,
                         RETENTION_KEEP_MAX);
    }
    json_object_foreach((json_t *)keep, key, value) {
        if (!json_is_string(value) && !json_is_null(value)) {
            return reel_fail(err, REEL_ARGUMENT, "rules[%zu]: keep: \"%.60s\" must be a text, or null for any value",
                             at, key);
        }
    }
    return true;
}

static bool check_rule(const json_t *rule, size_t at, struct reel_error *err) {
    static const char *const known[] = {"collection", "max_age", "max_size", "keep", NULL};
    int64_t ns;
    if (!check_members(rule, "rules", at, known, err)) {
        return false;
    }
    const json_t *age = json_object_get(rule, "max_age"), *bytes = json_object_get(rule, "max_size");
    if (age && (!json_is_string(age) || !reel_duration_parse(json_string_value(age), &ns, NULL))) {
        return reel_fail(err, REEL_ARGUMENT, "rules[%zu]: max_age is a duration such as \"30d\"", at);
    }
    if (!is_count(bytes)) {
        return reel_fail(err, REEL_ARGUMENT, "rules[%zu]: max_size is a number of bytes", at);
    }
    return check_keep(json_object_get(rule, "keep"), at, err);
}

static bool check_quota(const json_t *quota, size_t at, struct reel_error *err) {
    static const char *const known[] = {"collection", "size", "recordings", NULL};
    return check_members(quota, "quotas", at, known, err) &&
           ((is_count(json_object_get(quota, "size")) && is_count(json_object_get(quota, "recordings"))) ||
            reel_fail(err, REEL_ARGUMENT, "quotas[%zu]: size and recordings are numbers", at));
}

static bool check_list(const json_t *document, const char *name,
                       bool (*check)(const json_t *one, size_t at, struct reel_error *err), struct reel_error *err) {
    const json_t *list = json_object_get(document, name);
    size_t i;
    json_t *one;
    if (list && (!json_is_array(list) || json_array_size(list) > RETENTION_RULES_MAX)) {
        return reel_fail(err, REEL_ARGUMENT, "%s is a list of at most %d", name, RETENTION_RULES_MAX);
    }
    json_array_foreach(list, i, one) {
        if (!check(one, i, err)) {
            return false;
        }
    }
    return true;
}

bool retention_check(const json_t *document, struct reel_error *err) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)document, key, value) {
        if (strcmp(key, "rules") != 0 && strcmp(key, "quotas") != 0) {
            return reel_fail(err, REEL_ARGUMENT, "\"%.60s\" is not a known member", key);
        }
    }
    return check_list(document, "rules", check_rule, err) && check_list(document, "quotas", check_quota, err);
}

json_t *retention_get(struct catalog *c, struct reel_error *err) {
    AUTO_MEM char *text = catalog_maintenance(c, KEY, err);
    if (!text) {
        return NULL;
    }
    static const char damaged[] = "the retention rules in the catalog are damaged; set them again";
    json_t *document = json_whole_object(*text ? text : "{\"rules\":[],\"quotas\":[]}", damaged, err);
    if (document && !retention_check(document, NULL)) {
        reel_fail(err, REEL_DAMAGED, "%s", damaged);
        json_decref(document);
        return NULL;
    }
    return document;
}

bool retention_set(struct catalog *c, const json_t *document, struct reel_error *err) {
    if (!retention_check(document, err)) {
        return false;
    }
    const json_t *rules = json_object_get(document, "rules"), *quotas = json_object_get(document, "quotas");
    json_auto_t *whole = json_object();
    json_object_set_new(whole, "rules", rules ? json_incref((json_t *)rules) : json_array());
    json_object_set_new(whole, "quotas", quotas ? json_incref((json_t *)quotas) : json_array());
    AUTO_MEM char *text = json_whole_text(whole, JSON_COMPACT);
    return text ? catalog_set_maintenance(c, KEY, text, err) : reel_fail_memory(err);
}

/* The value of the key in this transaction; malloc'd, NULL with err. */
static char *read_document(struct db_handle *h, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "maintenance_get", err);
    if (!s) {
        return NULL;
    }
    db_set_text(s, ":key", KEY);
    enum db_step step = db_next(s, err);
    char *text = step == DB_FAILED ? NULL : strdup(step == DB_ROW ? db_text(s, 0) : "");
    if (!text && step != DB_FAILED) {
        reel_fail_memory(err);
    }
    return text;
}

static bool write_document(struct db_handle *h, const json_t *document, struct reel_error *err) {
    AUTO_MEM char *text = json_whole_text(document, JSON_COMPACT);
    AUTO(db_done) struct db_statement *s = text ? db_statement(h, "maintenance_set", err) : NULL;
    if (!s) {
        return text ? false : reel_fail_memory(err);
    }
    db_set_text(s, ":key", KEY);
    db_set_text(s, ":value", text);
    return db_run(s, err);
}

bool retention_rename(struct db_handle *h, const char *from, const char *to, struct reel_error *err) {
    static const char *const lists[] = {"rules", "quotas"};
    AUTO_MEM char *text = read_document(h, err);
    json_auto_t *document = text && *text ? json_loads(text, 0, NULL) : NULL;
    bool changed = false;
    size_t i;
    json_t *one;
    for (size_t k = 0; k < 2; k++) {
        json_array_foreach(json_object_get(document, lists[k]), i, one) {
            const char *glob = json_string_value(json_object_get(one, "collection"));
            if (glob && strcmp(glob, from) == 0) {
                changed = json_object_set_new(one, "collection", json_string(to)) == 0;
            }
        }
    }
    return text && (!changed || write_document(h, document, err));
}

const json_t *retention_of(const json_t *document, const char *list, const char *collection) {
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(document, list), i, one) {
        if (reel_glob_match(json_string_value(json_object_get(one, "collection")), collection)) {
            return one;
        }
    }
    return NULL;
}
