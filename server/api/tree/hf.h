/* /hf: datasets and collections as repositories, read-only, by the protocol of the Hugging Face Hub, as its clients
 * read them with HF_ENDPOINT=http://archive:8040/hf. The dataset lab/pick is the repository lab/pick, the collection
 * lab the repository lab; "reel/" before either is left out, for clients that want a namespace.
 *
 * A revision is "main" or the sha that main has (HEAD and of datasets v3.0 mean main). That of a dataset changes with
 * its bytes, and older ones are not found. That of a collection has the time of its newest recording: what comes later
 * is not in it. What is deleted leaves it, and what is moved or renamed is in it under its new name. */
#ifndef SERVER_API_TREE_HF_H
#define SERVER_API_TREE_HF_H

#include "api/tree/tree.h"

void api_hf_get(struct http_request *r);     /* of a dataset: info, refs, commits, tree */
void api_hf_post(struct http_request *r);    /* paths-info */
void api_hf_resolve(struct http_request *r); /* a file */
void api_hf_whoami(struct http_request *r);

struct hf_path { /* of a request; texts are in `text` */
    char *text;
    const char *id, *verb; /* verb: "tree" …; "": none */
    const char *revision;
    const char *path; /* in the repository, without slashes around it */
    int64_t until_ns; /* of clock_ns(): the request waits no longer for what has to be planned */
};
struct hf_repository {
    char *base; /* of its paths in the tree, with a slash at its end */
    bool is_dataset;
    char sha[SHA1_HEX];
    int64_t modified_ns;
    int64_t newest_ns; /* of a collection: files that came later are not in this revision */
    int64_t until_ns;  /* as of the path */
};
int64_t hf_left_ns(int64_t until_ns); /* 0: no time is left */
void hf_repository_done(struct hf_repository *repository);

/* The node of a path in the repository. REEL_BUSY: the dataset has changed meanwhile. */
bool hf_find(struct http_request *r, const struct hf_repository *repository, const char *path, struct tree_node *out,
             bool *found, struct reel_error *err);
void hf_reply_missing(struct http_request *r, const char *code, const char *detail); /* 404; RepoNotFound … */

/* ---- hf_list.c */
/* Hexadecimal digits that stand for the bytes, as clients make a file name of them: their SHA-256 if the tag is that,
 * else 40. */
void hf_tag(const struct tree_properties *p, char out[SHA256_HEX]);
json_t *hf_commit(const struct hf_repository *repository);
/* All files, for info; NULL with err. `blobs`: with sizes and tags. */
json_t *hf_siblings(struct http_request *r, const struct hf_repository *repository, bool blobs, struct reel_error *err);
void hf_reply_tree(struct http_request *r, const struct hf_repository *repository, const struct hf_path *p);
void hf_reply_paths(struct http_request *r, const struct hf_repository *repository);

#endif
