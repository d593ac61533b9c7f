/*
 * mailbox: a locked list and a wake-up.
 */
#include "proxy/mailbox.h"

#include <assert.h>

static void on_async(uv_async_t *async)
{
    struct mailbox *mailbox = container_of(async, struct mailbox, async);
    for (;;) {
        struct list *mail = NULL;
        pthread_mutex_lock(&mailbox->lock);
        if (!list_empty(&mailbox->mail)) {
            mail = mailbox->mail.next;
            list_remove(mail);
        }
        pthread_mutex_unlock(&mailbox->lock);
        if (mail == NULL)
            return;
        mailbox->deliver(mailbox, mail);
    }
}

int mailbox_open(struct mailbox *mailbox, uv_loop_t *uv,
                 void (*deliver)(struct mailbox *mailbox, struct list *mail))
{
    list_init(&mailbox->mail);
    mailbox->deliver = deliver;
    pthread_mutex_init(&mailbox->lock, NULL);
    return uv_async_init(uv, &mailbox->async, on_async);
}

static void on_closed(uv_handle_t *handle)
{
    struct mailbox *mailbox = container_of((uv_async_t *)handle, struct mailbox, async);
    assert(list_empty(&mailbox->mail));
    pthread_mutex_destroy(&mailbox->lock);
}

void mailbox_close(struct mailbox *mailbox)
{
    uv_close((uv_handle_t *)&mailbox->async, on_closed);
}

void mailbox_post(struct mailbox *mailbox, struct list *mail)
{
    pthread_mutex_lock(&mailbox->lock);
    list_append(&mailbox->mail, mail);
    /* Before the mail can be taken: whoever has read it may close the mailbox. */
    uv_async_send(&mailbox->async);
    pthread_mutex_unlock(&mailbox->lock);
}
