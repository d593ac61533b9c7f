/*
 * verify_scene: a stage on which hits are also asked of the server, and what tests of that say.
 */
#ifndef UNIT_VERIFY_SCENE_H
#define UNIT_VERIFY_SCENE_H

#include "stage_scene.h"

#include "proxy/violation.h"

/* Neither doubt nor settling excuses anything. */
#define STRICT EXCLUSIVE "settle = 0\ndoubt = 0\nverify = 1\n"

/* The last violation that was told, and how many were since verify_open. */
struct verify_told {
    unsigned count;
    char text[VIOLATION_TEXT_MAX];
};

extern struct verify_told verify_told;

void verify_open(struct scene *s, const char *keys);
/* f gets attributes that a test can say in words. */
void verify_set_attributes(struct file *file);
/* d/f -> f, d/n: not there; ACCESS of f with some bits. */
void verify_warm(struct scene *s);

/* What all workers counted: verified, equal, outdated, violations, unclear, skipped. */
#define expect_counts(scene, procedure, ...) \
    expect_counts_at((scene), (procedure), (const uint64_t[6]){__VA_ARGS__}, __FILE__, __LINE__)
/* The client is answered at once, and the server is asked the same. */
#define hit(client, procedure, args, results) \
    hit_at((client), (procedure), (args), (results), __FILE__, __LINE__)

void expect_counts_at(const struct scene *s, unsigned procedure, const uint64_t expected[6],
                      const char *file, int line);
struct stage_sent *hit_at(struct stage_client *client, unsigned procedure, struct body args,
                          struct body results, const char *file, int line);
/* The same for the attributes of a file as they are kept. */
struct stage_sent *hit_getattr(struct stage_client *client, const struct file *file);
/* The server is asked by a client, and nothing is checked. */
void asked_again(struct stage_client *client, const struct file *file);
/* Still answered from the cache; the check is answered as it was served. */
void still_served(struct stage_client *client, const struct file *file);

#endif
