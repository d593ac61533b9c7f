/*
 * mailbox: how threads hand things to a loop. Posting is for any thread; delivery is on the loop's
 * own, in order.
 */
#ifndef PROXY_MAILBOX_H
#define PROXY_MAILBOX_H

#include <pthread.h>
#include <uv.h>

#include "proxy/container.h"

struct mailbox {
    uv_async_t async;
    pthread_mutex_t lock;
    struct list mail;
    void (*deliver)(struct mailbox *mailbox, struct list *mail);
};

int mailbox_open(struct mailbox *mailbox, uv_loop_t *uv,
                 void (*deliver)(struct mailbox *mailbox, struct list *mail));
/* Nobody posts any more. The loop must run once more afterwards. */
void mailbox_close(struct mailbox *mailbox);
/* `mail` is on no list; it is the receiver's from now on. */
void mailbox_post(struct mailbox *mailbox, struct list *mail);

#endif
