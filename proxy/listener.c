/*
 * listener: accept until the queue is empty; where accept fails for lack of something, wait and go
 * on.
 */
#include "proxy/listener.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BACKLOG    1024
#define ACCEPT_MAX 64   /* connections in one turn of the loop */
#define PAUSE      100u /* ms */

static int open_socket(const struct settings_address *address)
{
    int yes = 1, err = 0;
    int fd = socket(address->addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (address->addr.ss_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
    if (bind(fd, (const struct sockaddr *)&address->addr, address->len) != 0)
        err = -errno;
    if (err == 0 && listen(fd, BACKLOG) != 0)
        err = -errno;
    if (err != 0) {
        close(fd);
        return err;
    }
    return fd;
}

struct listener *listener_bind(const struct settings_address *address)
{
    struct listener *listener = calloc(1, sizeof(*listener));
    if (listener == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    int fd = open_socket(address);
    if (fd < 0) {
        free(listener);
        errno = -fd;
        return NULL;
    }
    listener->fd = fd;
    listener->address = *address;
    list_init(&listener->node);
    return listener;
}

static void refuse(struct listener *listener, const struct sockaddr_storage *peer, socklen_t len,
                   int fd)
{
    char text[64];
    struct settings_address address = {.addr = *peer, .len = len};
    settings_address_text(&address, text, sizeof(text));
    close(fd);
    listener->refused++;
    log_limited(listener->owner->log, listener->owner->refused_limit, uv_hrtime(),
                SETTINGS_LOG_WARNING, "%s: refused %s: not in allow", listener->settings->name,
                text);
}

static void on_readable(uv_poll_t *poll, int status, int events);

static void on_pause_over(uv_timer_t *timer)
{
    struct listener *listener = container_of(timer, struct listener, pause);
    uv_poll_start(&listener->poll, UV_READABLE, on_readable);
}

/* Descriptors or memory ran out: connections wait in the backlog, and the loop does not spin. */
static void pause_accepting(struct listener *listener, int error)
{
    log_limited(listener->owner->log, listener->owner->accept_limit, uv_hrtime(),
                SETTINGS_LOG_ERROR, "%s: can't accept connections, trying again: %s",
                listener->settings->name, strerror(error));
    uv_poll_stop(&listener->poll);
    uv_timer_start(&listener->pause, on_pause_over, PAUSE, 0);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct listener *listener = container_of(poll, struct listener, poll);
    (void)status;
    (void)events;
    for (unsigned i = 0; i < ACCEPT_MAX; i++) {
        struct sockaddr_storage peer;
        socklen_t len = sizeof(peer);
        if (!listener->owner->has_room(listener->owner)) {
            pause_accepting(listener, EMFILE);
            return;
        }
        int fd =
            accept4(listener->fd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (fd < 0 && (errno == ECONNABORTED || errno == EINTR))
            continue;
        if (fd < 0) {
            pause_accepting(listener, errno);
            return;
        }
        if (settings_allowed(listener->settings, (const struct sockaddr *)&peer))
            listener->owner->accepted(listener->owner, listener, fd);
        else
            refuse(listener, &peer, len, fd);
    }
}

int listener_start(struct listener *listener, uv_loop_t *uv, struct listener_owner *owner)
{
    listener->owner = owner;
    int err = uv_poll_init_socket(uv, &listener->poll, listener->fd);
    if (err != 0)
        return err;
    uv_timer_init(uv, &listener->pause);
    listener->handles = 2;
    return uv_poll_start(&listener->poll, UV_READABLE, on_readable);
}

static void maybe_free(struct listener *listener)
{
    if (listener->handles > 0)
        return;
    close(listener->fd);
    free(listener);
}

static void on_poll_closed(uv_handle_t *handle)
{
    struct listener *listener = container_of((uv_poll_t *)handle, struct listener, poll);
    listener->handles--;
    maybe_free(listener);
}

static void on_pause_closed(uv_handle_t *handle)
{
    struct listener *listener = container_of((uv_timer_t *)handle, struct listener, pause);
    listener->handles--;
    maybe_free(listener);
}

void listener_close(struct listener *listener)
{
    list_remove(&listener->node);
    if (listener->handles > 0) {
        uv_poll_stop(&listener->poll);
        uv_close((uv_handle_t *)&listener->poll, on_poll_closed);
        uv_close((uv_handle_t *)&listener->pause, on_pause_closed);
        return;
    }
    maybe_free(listener);
}
