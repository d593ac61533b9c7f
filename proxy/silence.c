/*
 * silence: a short list of names with a count each; looked at when a server stops or begins to answer, which is rare.
 */
#include "proxy/silence.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct silent {
    struct list node;
    unsigned waiting;
    char name[];
};

void silence_init(struct silence *silence)
{
    pthread_mutex_init(&silence->lock, NULL);
    list_init(&silence->servers);
}

void silence_destroy(struct silence *silence)
{
    assert(list_empty(&silence->servers));
    pthread_mutex_destroy(&silence->lock);
}

static struct silent *find(struct silence *silence, const char *server)
{
    for (struct list *node = silence->servers.next; node != &silence->servers; node = node->next) {
        struct silent *silent = container_of(node, struct silent, node);
        if (strcmp(silent->name, server) == 0)
            return silent;
    }
    return NULL;
}

/* NULL without memory: then it is said more often than it has to be. */
static struct silent *add(struct silence *silence, const char *server)
{
    size_t size = strlen(server) + 1;
    struct silent *silent = malloc(sizeof(*silent) + size);
    if (silent == NULL)
        return NULL;
    silent->waiting = 0;
    memcpy(silent->name, server, size);
    list_append(&silence->servers, &silent->node);
    return silent;
}

bool silence_begin(struct silence *silence, const char *server)
{
    pthread_mutex_lock(&silence->lock);
    struct silent *silent = find(silence, server);
    bool first = silent == NULL;
    if (first)
        silent = add(silence, server);
    if (silent != NULL)
        silent->waiting++;
    pthread_mutex_unlock(&silence->lock);
    return first;
}

bool silence_end(struct silence *silence, const char *server)
{
    pthread_mutex_lock(&silence->lock);
    struct silent *silent = find(silence, server);
    bool last = silent == NULL || --silent->waiting == 0;
    if (silent != NULL && last) {
        list_remove(&silent->node);
        free(silent);
    }
    pthread_mutex_unlock(&silence->lock);
    return last;
}
