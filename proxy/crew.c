/*
 * crew: hands out connections and rounds. The last worker to be through posts a round home.
 */
#include "proxy/crew.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define DRAIN_PATIENCE 5000u /* ms */

/* ---- rounds ---- */

struct round_job {
    struct worker_job job;
    struct round *round;
};

static void run_round(struct worker *worker, struct worker_job *job)
{
    struct round *round = container_of(job, struct round_job, job)->round;
    round->each(round, worker);
    if (atomic_fetch_sub(&round->left, 1) == 1)
        mailbox_post(&round->crew->home, &round->mail);
}

int crew_round(struct crew *crew, struct round *round)
{
    assert(!crew->stopping);
    struct round_job *jobs = calloc(crew->count, sizeof(*jobs));
    if (jobs == NULL)
        return -ENOMEM;
    round->crew = crew;
    round->jobs = jobs;
    list_init(&round->mail);
    atomic_store(&round->left, crew->count);
    crew->rounds++;
    for (unsigned i = 0; i < crew->count; i++) {
        jobs[i].job.run = run_round;
        jobs[i].round = round;
        worker_post(&crew->workers[i], &jobs[i].job);
    }
    return 0;
}

static void stop_when_idle(struct crew *crew);

static void deliver(struct mailbox *mailbox, struct list *mail)
{
    struct crew *crew = container_of(mailbox, struct crew, home);
    struct round *round = container_of(mail, struct round, mail);
    free(round->jobs);
    crew->rounds--;
    round->done(round);
    stop_when_idle(crew);
}

/* ---- connections ---- */

struct adoption {
    struct worker_job job;
    char service[SETTINGS_NAME_MAX + 1];
    int fd;
};

static void adopt(struct worker *worker, struct worker_job *job)
{
    struct adoption *adoption = container_of(job, struct adoption, job);
    worker_adopt(worker, adoption->service, adoption->fd);
    free(adoption);
}

static struct worker *choose_worker(struct crew *crew)
{
    unsigned best = crew->next % crew->count;
    for (unsigned i = 1; i < crew->count; i++) {
        unsigned other = (crew->next + i) % crew->count;
        if (atomic_load(&crew->workers[other].load) < atomic_load(&crew->workers[best].load))
            best = other;
    }
    crew->next = best + 1;
    return &crew->workers[best];
}

unsigned crew_connections(const struct crew *crew)
{
    unsigned connections = 0;
    for (unsigned i = 0; i < crew->count; i++)
        connections += atomic_load(&crew->workers[i].load);
    return connections;
}

void crew_adopt(struct crew *crew, const char *service, int fd)
{
    struct adoption *adoption = calloc(1, sizeof(*adoption));
    if (adoption == NULL) {
        close(fd);
        return;
    }
    struct worker *worker = choose_worker(crew);
    adoption->job.run = adopt;
    adoption->fd = fd;
    snprintf(adoption->service, sizeof(adoption->service), "%s", service);
    atomic_fetch_add(&worker->load, 1);
    worker_post(worker, &adoption->job);
}

/* ---- the beginning and the end ---- */

int crew_start(struct crew *crew, uv_loop_t *uv, const struct crew_options *options)
{
    *crew = (struct crew){.stopped = options->stopped};
    int err = mailbox_open(&crew->home, uv, deliver);
    if (err != 0)
        return err;
    crew->workers = calloc(options->workers, sizeof(struct worker));
    if (crew->workers == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < options->workers; i++) {
        struct worker_options one = {
            .number = i, .cache = options->cache, .order = options->order, .log = options->log};
        err = worker_start(&crew->workers[i], &one);
        if (err != 0)
            return err;
        crew->count++;
    }
    return 0;
}

static void drain(struct worker *worker, struct worker_job *job)
{
    free(job);
    worker_drain(worker, DRAIN_PATIENCE);
}

/* A worker that drains takes no more jobs: what is under way comes first. */
static void stop_when_idle(struct crew *crew)
{
    if (!crew->stopping || crew->rounds > 0)
        return;
    for (unsigned i = 0; i < crew->count; i++) {
        struct worker_job *job = malloc(sizeof(*job));
        if (job == NULL)
            abort(); /* there is no way to end in order */
        job->run = drain;
        worker_post(&crew->workers[i], job);
    }
    for (unsigned i = 0; i < crew->count; i++)
        worker_join(&crew->workers[i]);
    free(crew->workers);
    crew->workers = NULL;
    crew->count = 0;
    mailbox_close(&crew->home);
    crew->stopped(crew);
}

void crew_stop(struct crew *crew)
{
    crew->stopping = true;
    stop_when_idle(crew);
}
