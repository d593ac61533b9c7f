/*
 * round: the last worker to be through posts the round home.
 */
#include "proxy/round.h"

#include <errno.h>
#include <stdlib.h>

static void run(struct worker *worker, struct worker_job *job)
{
    struct round *round = container_of(job, struct round_job, job)->round;
    round->each(round, worker);
    if (atomic_fetch_sub(&round->left, 1) == 1)
        mailbox_post(round->home, &round->mail);
}

int round_start(struct round *round, struct worker *workers, unsigned count)
{
    round->jobs = calloc(count, sizeof(*round->jobs));
    if (round->jobs == NULL)
        return -ENOMEM;
    list_init(&round->mail);
    atomic_store(&round->left, count);
    for (unsigned i = 0; i < count; i++) {
        round->jobs[i].job.run = run;
        round->jobs[i].round = round;
    }
    struct round_job *jobs = round->jobs;
    for (unsigned i = 0; i < count; i++)
        worker_post(&workers[i], &jobs[i].job);
    return 0;
}

void round_deliver(struct mailbox *mailbox, struct list *mail)
{
    (void)mailbox;
    struct round *round = container_of(mail, struct round, mail);
    free(round->jobs);
    round->jobs = NULL;
    round->done(round);
}
