/*
 * listeners: which address is bound, and for whom.
 */
#include "proxy/listeners.h"

#include <errno.h>
#include <string.h>

#include "proxy/address.h"

void listeners_init(struct listeners *listeners, uv_loop_t *uv, struct listener_owner *owner)
{
    list_init(&listeners->all);
    list_init(&listeners->fresh);
    listeners->uv = uv;
    listeners->owner = owner;
}

static struct listener *find(struct listeners *listeners, const struct settings_address *address)
{
    for (struct list *node = listeners->all.next; node != &listeners->all; node = node->next) {
        struct listener *listener = container_of(node, struct listener, node);
        if (settings_address_equal(&listener->address, address))
            return listener;
    }
    return NULL;
}

/* Whether IPv4 clients of that port have a listener of their own. */
static bool has_v4(const struct settings *settings, uint16_t port)
{
    for (unsigned i = 0; i < settings->service_count; i++) {
        const struct settings_service *service = &settings->services[i];
        for (unsigned j = 0; j < service->listen_count; j++) {
            if (service->listen[j].addr.ss_family == AF_INET &&
                address_port(&service->listen[j].addr) == port)
                return true;
        }
    }
    return false;
}

static void close_all(struct list *list)
{
    while (!list_empty(list))
        listener_close(container_of(list->next, struct listener, node));
}

static bool is_any_v6(const struct settings_address *address)
{
    return address->addr.ss_family == AF_INET6 &&
           IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)&address->addr)->sin6_addr);
}

static struct settings_address any_v4(uint16_t port)
{
    struct settings_address address = {.len = address_len(AF_INET)};
    address.addr.ss_family = AF_INET;
    address_set_port(&address.addr, port);
    return address;
}

typedef int visit_wanted(struct listeners *listeners, const struct settings_service *service,
                         const struct settings_address *address);

/*
 * All sockets that the settings need, until a visit fails. [::] takes IPv4 clients too unless they
 * have a listener of their own. That is a second socket rather than a dual-stack one: which of both
 * it is can't be changed once it is bound, and a reload may bring that listener, or take it away.
 */
static int each_wanted(struct listeners *listeners, const struct settings *settings,
                       visit_wanted *visit)
{
    int err = 0;
    for (unsigned i = 0; i < settings->service_count; i++) {
        const struct settings_service *service = &settings->services[i];
        for (unsigned j = 0; j < service->listen_count && err == 0; j++) {
            const struct settings_address *address = &service->listen[j];
            struct settings_address v4 = any_v4(address_port(&address->addr));
            err = visit(listeners, service, address);
            if (err == 0 && is_any_v6(address) && !has_v4(settings, address_port(&address->addr)))
                err = visit(listeners, service, &v4);
        }
    }
    return err;
}

static int prepare_one(struct listeners *listeners, const struct settings_service *service,
                       const struct settings_address *address)
{
    if (find(listeners, address) != NULL)
        return 0;
    struct listener *listener = listener_bind(address);
    if (listener == NULL) {
        int err = -errno;
        char text[64];
        settings_address_text(address, text, sizeof(text));
        log_line(listeners->owner->log, SETTINGS_LOG_ERROR, "%s: can't listen on %s: %s",
                 service->name, text, strerror(-err));
        return err;
    }
    list_append(&listeners->fresh, &listener->node);
    return 0;
}

int listeners_prepare(struct listeners *listeners, const struct settings *settings)
{
    int err = each_wanted(listeners, settings, prepare_one);
    if (err != 0)
        listeners_cancel(listeners);
    return err;
}

void listeners_cancel(struct listeners *listeners)
{
    close_all(&listeners->fresh);
}

static void start_fresh(struct listeners *listeners)
{
    while (!list_empty(&listeners->fresh)) {
        struct listener *listener = container_of(listeners->fresh.next, struct listener, node);
        list_remove(&listener->node);
        list_append(&listeners->all, &listener->node);
        int err = listener_start(listener, listeners->uv, listeners->owner);
        if (err != 0)
            log_line(listeners->owner->log, SETTINGS_LOG_ERROR, "can't accept connections: %s",
                     uv_strerror(err));
    }
}

static int follow_one(struct listeners *listeners, const struct settings_service *service,
                      const struct settings_address *address)
{
    find(listeners, address)->settings = service;
    return 0;
}

void listeners_follow(struct listeners *listeners, const struct settings *settings)
{
    struct list *next;
    start_fresh(listeners);
    for (struct list *node = listeners->all.next; node != &listeners->all; node = node->next)
        container_of(node, struct listener, node)->settings = NULL;
    each_wanted(listeners, settings, follow_one);
    for (struct list *node = listeners->all.next; node != &listeners->all; node = next) {
        next = node->next;
        struct listener *listener = container_of(node, struct listener, node);
        if (listener->settings == NULL)
            listener_close(listener);
    }
}

void listeners_close(struct listeners *listeners)
{
    close_all(&listeners->all);
    close_all(&listeners->fresh);
}

uint64_t listeners_refused(const struct listeners *listeners, const char *service)
{
    uint64_t refused = 0;
    for (const struct list *node = listeners->all.next; node != &listeners->all;
         node = node->next) {
        const struct listener *listener = container_of(node, struct listener, node);
        if (strcmp(listener->settings->name, service) == 0)
            refused += listener->refused;
    }
    return refused;
}
