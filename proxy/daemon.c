/*
 * daemon: starts, reloads and stops everything; runs on the process' main thread.
 *
 * A configuration comes into force in the same way at the start and at a reload: sockets for new
 * addresses are bound first, since that is what can fail; then nothing can any more: every worker
 * takes the new snapshot (a round), and listeners follow it.
 */
#include "proxy/daemon.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "proxy/control.h"
#include "proxy/listener.h"
#include "proxy/order.h"
#include "proxy/report.h"
#include "proxy/round.h"
#include "proxy/snapshot.h"
#include "proxy/worker.h"

#define DRAIN_PATIENCE 5000u /* ms */

struct daemon {
    const char *file;
    uv_loop_t uv;
    struct log log;
    struct log_limit refused_limit, accept_limit;
    struct cache *cache;
    struct order *order;
    struct snapshot *current;
    struct worker *workers;
    unsigned worker_count;
    unsigned next_worker;
    struct mailbox home;
    struct list listeners;
    struct listener_owner listener_owner;
    struct control control;
    uv_signal_t hup, term, interrupt;
    struct round apply;
    bool applying, again, stopping, ready;
    unsigned rounds; /* under way */
};

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

/* The worker with the fewest connections, and in turn among equals. */
static struct worker *choose_worker(struct daemon *daemon)
{
    unsigned best = daemon->next_worker % daemon->worker_count;
    for (unsigned i = 1; i < daemon->worker_count; i++) {
        unsigned other = (daemon->next_worker + i) % daemon->worker_count;
        if (atomic_load(&daemon->workers[other].load) < atomic_load(&daemon->workers[best].load))
            best = other;
    }
    daemon->next_worker = best + 1;
    return &daemon->workers[best];
}

static void on_accepted(struct listener_owner *owner, struct listener *listener, int fd)
{
    struct daemon *daemon = container_of(owner, struct daemon, listener_owner);
    struct adoption *adoption = calloc(1, sizeof(*adoption));
    if (adoption == NULL) {
        close(fd);
        return;
    }
    adoption->job.run = adopt;
    adoption->fd = fd;
    snprintf(adoption->service, sizeof(adoption->service), "%s", listener->settings->name);
    worker_post(choose_worker(daemon), &adoption->job);
}

/* ---- listeners ---- */

static bool same_address(const struct settings_address *a, const struct settings_address *b)
{
    return a->len == b->len && memcmp(&a->addr, &b->addr, a->len) == 0;
}

static struct listener *listener_find(struct daemon *daemon, const struct settings_address *address)
{
    for (struct list *node = daemon->listeners.next; node != &daemon->listeners;
         node = node->next) {
        struct listener *listener = container_of(node, struct listener, node);
        if (same_address(&listener->address, address))
            return listener;
    }
    return NULL;
}

static uint16_t port_of(const struct settings_address *address)
{
    return address->addr.ss_family == AF_INET6
               ? ((const struct sockaddr_in6 *)&address->addr)->sin6_port
               : ((const struct sockaddr_in *)&address->addr)->sin_port;
}

/* Whether IPv4 clients of that port have a listener of their own. */
static bool has_v4(const struct settings *settings, uint16_t port)
{
    for (unsigned i = 0; i < settings->service_count; i++) {
        const struct settings_service *service = &settings->services[i];
        for (unsigned j = 0; j < service->listen_count; j++) {
            if (service->listen[j].addr.ss_family == AF_INET &&
                port_of(&service->listen[j]) == port)
                return true;
        }
    }
    return false;
}

static void close_all(struct list *listeners)
{
    while (!list_empty(listeners))
        listener_close(container_of(listeners->next, struct listener, node));
}

/* Binds what is not bound yet, onto `fresh`. All or nothing. */
static int bind_fresh(struct daemon *daemon, const struct settings *settings, struct list *fresh)
{
    for (unsigned i = 0; i < settings->service_count; i++) {
        const struct settings_service *service = &settings->services[i];
        for (unsigned j = 0; j < service->listen_count; j++) {
            const struct settings_address *address = &service->listen[j];
            if (listener_find(daemon, address) != NULL)
                continue;
            struct listener *listener = listener_bind(address, has_v4(settings, port_of(address)));
            if (listener == NULL) {
                int err = -errno;
                char text[64];
                settings_address_text(address, text, sizeof(text));
                log_line(&daemon->log, SETTINGS_LOG_ERROR, "%s: can't listen on %s: %s",
                         service->name, text, strerror(-err));
                close_all(fresh);
                return err;
            }
            list_append(fresh, &listener->node);
        }
    }
    return 0;
}

static void start_fresh(struct daemon *daemon, struct list *fresh)
{
    while (!list_empty(fresh)) {
        struct listener *listener = container_of(fresh->next, struct listener, node);
        list_remove(&listener->node);
        list_append(&daemon->listeners, &listener->node);
        int err = listener_start(listener, &daemon->uv, &daemon->listener_owner);
        if (err != 0)
            log_line(&daemon->log, SETTINGS_LOG_ERROR, "can't accept connections: %s",
                     uv_strerror(err));
    }
}

/* Each listener belongs to the service that now names its address; what nobody names is closed. */
static void follow_settings(struct daemon *daemon, const struct settings *settings)
{
    struct list *next;
    for (struct list *node = daemon->listeners.next; node != &daemon->listeners; node = node->next)
        container_of(node, struct listener, node)->seen = false;
    for (unsigned i = 0; i < settings->service_count; i++) {
        const struct settings_service *service = &settings->services[i];
        for (unsigned j = 0; j < service->listen_count; j++) {
            struct listener *listener = listener_find(daemon, &service->listen[j]);
            listener->settings = service;
            listener->seen = true;
        }
    }
    for (struct list *node = daemon->listeners.next; node != &daemon->listeners; node = next) {
        next = node->next;
        struct listener *listener = container_of(node, struct listener, node);
        if (!listener->seen)
            listener_close(listener);
    }
}

/* ---- a configuration comes into force ---- */

static void apply_each(struct round *round, struct worker *worker)
{
    worker_apply(worker, container_of(round, struct daemon, apply)->current);
}

static void reload(struct daemon *daemon);
static void stop_workers(struct daemon *daemon);

static void apply_done(struct round *round)
{
    struct daemon *daemon = container_of(round, struct daemon, apply);
    daemon->applying = false;
    daemon->rounds--;
    log_line(&daemon->log, SETTINGS_LOG_INFO, "%s: %u service%s, %u worker%s",
             daemon->ready ? "reloaded" : "serving", daemon->current->settings->service_count,
             daemon->current->settings->service_count == 1 ? "" : "s", daemon->worker_count,
             daemon->worker_count == 1 ? "" : "s");
    daemon->ready = true;
    sd_notify(0, "READY=1");
    if (daemon->stopping) {
        stop_workers(daemon);
    } else if (daemon->again) {
        daemon->again = false;
        reload(daemon);
    }
}

static void say_not_yet(struct daemon *daemon, const struct settings *settings)
{
    static const char text[] = "is set, but this version does not do it yet";
    if (settings->http != NULL)
        log_line(&daemon->log, SETTINGS_LOG_WARNING, "http: %s", text);
    if (settings->rpcbind)
        log_line(&daemon->log, SETTINGS_LOG_WARNING, "rpcbind: %s", text);
    for (unsigned i = 0; i < settings->service_count; i++) {
        if (settings->services[i].verify > 0)
            log_line(&daemon->log, SETTINGS_LOG_WARNING, "%s: verify: %s",
                     settings->services[i].name, text);
    }
}

/* Takes over `settings`. 0, or a negative error that is logged: what was in force stays. */
static int apply(struct daemon *daemon, struct settings *settings)
{
    struct list fresh;
    list_init(&fresh);
    int err = bind_fresh(daemon, settings, &fresh);
    if (err != 0) {
        settings_free(settings);
        return err;
    }
    struct snapshot *next = snapshot_create(settings, daemon->cache, daemon->current, uv_hrtime());
    if (next == NULL) {
        close_all(&fresh);
        log_line(&daemon->log, SETTINGS_LOG_ERROR, "no memory for the configuration");
        return -ENOMEM;
    }
    daemon->apply.each = apply_each;
    daemon->apply.done = apply_done;
    daemon->apply.home = &daemon->home;
    struct snapshot *old = daemon->current;
    daemon->current = next;
    err = round_start(&daemon->apply, daemon->workers, daemon->worker_count);
    if (err != 0) {
        daemon->current = old;
        snapshot_drop(next);
        close_all(&fresh);
        log_line(&daemon->log, SETTINGS_LOG_ERROR, "no memory for the configuration");
        return err;
    }
    daemon->applying = true;
    daemon->rounds++;
    log_set_level(&daemon->log, next->settings->log_level);
    start_fresh(daemon, &fresh);
    follow_settings(daemon, next->settings);
    say_not_yet(daemon, next->settings);
    snapshot_drop(old);
    return 0;
}

static void reload(struct daemon *daemon)
{
    if (daemon->applying) {
        daemon->again = true;
        return;
    }
    struct settings_error error;
    sd_notify(0, "RELOADING=1");
    struct settings *settings = settings_load(daemon->file, &error);
    if (settings == NULL) {
        log_line(&daemon->log, SETTINGS_LOG_ERROR, "not reloaded: %s", error.text);
        sd_notify(0, "READY=1");
        return;
    }
    const char *key = settings_needs_restart(daemon->current->settings, settings);
    if (key != NULL)
        log_line(&daemon->log, SETTINGS_LOG_WARNING,
                 "%s: changes only when the daemon is started again", key);
    if (apply(daemon, settings) != 0) {
        log_line(&daemon->log, SETTINGS_LOG_ERROR,
                 "not reloaded: the configuration that was in force stays");
        sd_notify(0, "READY=1");
    }
}

/* ---- stat and flush ---- */

struct collection {
    struct round round;
    struct daemon *daemon;
    struct control_request *request;
    struct snapshot *snapshot;
    pthread_mutex_t lock;
    unsigned count;
    struct report_service services[];
};

static void collect_service(struct collection *collection, const struct worker_service *ws)
{
    for (unsigned i = 0; i < collection->count; i++) {
        struct report_service *service = &collection->services[i];
        if (ws->removed || strcmp(service->name, ws->name) != 0)
            continue;
        report_add(&service->sum, &ws->service.counters);
        service->links += ws->nfs != NULL ? ws->nfs->links : 0;
        service->links_up += ws->nfs != NULL ? port_links_up(ws->nfs) : 0;
    }
}

static void collect_each(struct round *round, struct worker *worker)
{
    struct collection *collection = container_of(round, struct collection, round);
    pthread_mutex_lock(&collection->lock);
    for (struct list *node = worker->services.next; node != &worker->services; node = node->next)
        collect_service(collection, container_of(node, struct worker_service, node));
    pthread_mutex_unlock(&collection->lock);
}

static void collect_refused(struct collection *collection)
{
    struct list *head = &collection->daemon->listeners;
    for (struct list *node = head->next; node != head; node = node->next) {
        const struct listener *listener = container_of(node, struct listener, node);
        for (unsigned i = 0; i < collection->count; i++) {
            if (strcmp(collection->services[i].name, listener->settings->name) == 0)
                collection->services[i].refused += listener->refused;
        }
    }
}

static void collect_done(struct round *round)
{
    struct collection *collection = container_of(round, struct collection, round);
    struct daemon *daemon = collection->daemon;
    struct cache_usage usage;
    cache_usage(daemon->cache, &usage);
    collect_refused(collection);
    control_answer(collection->request,
                   report_json(collection->services, collection->count, &usage));
    pthread_mutex_destroy(&collection->lock);
    snapshot_drop(collection->snapshot);
    free(collection);
    daemon->rounds--;
    if (daemon->stopping)
        stop_workers(daemon);
}

static void stat_asked(struct daemon *daemon, struct control_request *request)
{
    const struct settings *settings = daemon->current->settings;
    struct collection *collection =
        calloc(1, sizeof(*collection) + settings->service_count * sizeof(struct report_service));
    if (collection == NULL) {
        control_answer(request, NULL);
        return;
    }
    collection->daemon = daemon;
    collection->request = request;
    collection->snapshot = snapshot_take(daemon->current);
    collection->count = settings->service_count;
    pthread_mutex_init(&collection->lock, NULL);
    for (unsigned i = 0; i < collection->count; i++) {
        const struct settings_service *service = &settings->services[i];
        struct report_service *to = &collection->services[i];
        snprintf(to->name, sizeof(to->name), "%s", service->name);
        snprintf(to->server, sizeof(to->server), "%s", service->server);
    }
    collection->round.each = collect_each;
    collection->round.done = collect_done;
    collection->round.home = &daemon->home;
    daemon->rounds++;
    if (round_start(&collection->round, daemon->workers, daemon->worker_count) != 0)
        collect_done(&collection->round);
}

static void flush_asked(struct daemon *daemon, struct control_request *request, const char *name)
{
    const struct settings *settings = daemon->current->settings;
    if (*name == '\0') {
        cache_flush(daemon->cache, NULL);
        control_answer(request, json_pack("{s:s}", "flushed", "all services"));
        return;
    }
    for (unsigned i = 0; i < settings->service_count; i++) {
        if (strcmp(settings->services[i].name, name) != 0)
            continue;
        cache_flush(daemon->cache, daemon->current->servers[i]);
        control_answer(request, json_pack("{s:s}", "flushed", name));
        return;
    }
    char text[CONTROL_LINE_MAX + 64];
    snprintf(text, sizeof(text), "there is no service '%s'", name);
    control_error(request, text);
}

static void on_asked(struct control *control, struct control_request *request, const char *line)
{
    struct daemon *daemon = container_of(control, struct daemon, control);
    if (daemon->stopping)
        control_error(request, "the daemon is stopping");
    else if (strcmp(line, "stat") == 0)
        stat_asked(daemon, request);
    else if (strcmp(line, "flush") == 0)
        flush_asked(daemon, request, "");
    else if (strncmp(line, "flush ", 6) == 0)
        flush_asked(daemon, request, line + 6);
    else
        control_error(request, "the daemon does not know this request");
}

/* ---- the end ---- */

static void drain(struct worker *worker, struct worker_job *job)
{
    free(job);
    worker_drain(worker, DRAIN_PATIENCE);
}

/* When no round is under way: a worker that has ended takes no more jobs. */
static void stop_workers(struct daemon *daemon)
{
    if (daemon->rounds > 0)
        return;
    for (unsigned i = 0; i < daemon->worker_count; i++) {
        struct worker_job *job = malloc(sizeof(*job));
        if (job == NULL)
            abort(); /* nothing else can end it in order */
        job->run = drain;
        worker_post(&daemon->workers[i], job);
    }
    for (unsigned i = 0; i < daemon->worker_count; i++)
        worker_join(&daemon->workers[i]);
    mailbox_close(&daemon->home);
    control_close(&daemon->control);
    uv_close((uv_handle_t *)&daemon->hup, NULL);
    uv_close((uv_handle_t *)&daemon->term, NULL);
    uv_close((uv_handle_t *)&daemon->interrupt, NULL);
}

static void on_signal(uv_signal_t *signal, int number)
{
    struct daemon *daemon = signal->data;
    if (number == SIGHUP) {
        if (!daemon->stopping)
            reload(daemon);
        return;
    }
    if (daemon->stopping)
        return;
    daemon->stopping = true;
    log_line(&daemon->log, SETTINGS_LOG_INFO, "stopping");
    sd_notify(0, "STOPPING=1");
    close_all(&daemon->listeners);
    stop_workers(daemon);
}

/* ---- the beginning ---- */

static void watch(struct daemon *daemon, uv_signal_t *handle, int number)
{
    uv_signal_init(&daemon->uv, handle);
    handle->data = daemon;
    uv_signal_start(handle, on_signal, number);
}

/* As many connections as the system lets us have. */
static void raise_descriptor_limit(struct daemon *daemon)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        log_line(&daemon->log, SETTINGS_LOG_WARNING, "can't raise the number of descriptors: %s",
                 strerror(errno));
}

static int create_shared(struct daemon *daemon, const struct settings *settings)
{
    uint8_t secret[CACHE_SECRET_LEN];
    if (getrandom(secret, sizeof(secret), 0) != (ssize_t)sizeof(secret))
        return -errno;
    daemon->cache =
        cache_create(&(struct cache_options){.memory = settings->memory, .secret = secret});
    if (daemon->cache == NULL)
        return -errno;
    daemon->order = order_create(secret, sizeof(secret));
    return daemon->order == NULL ? -errno : 0;
}

static unsigned worker_count(const struct settings *settings)
{
    if (settings->workers > 0)
        return settings->workers;
    return uv_available_parallelism();
}

static int start_workers(struct daemon *daemon, unsigned count)
{
    daemon->workers = calloc(count, sizeof(struct worker));
    if (daemon->workers == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++) {
        struct worker_options options = {
            .number = i, .cache = daemon->cache, .order = daemon->order, .log = &daemon->log};
        int err = worker_start(&daemon->workers[i], &options);
        if (err != 0)
            return err;
        daemon->worker_count++;
    }
    return 0;
}

static int start(struct daemon *daemon, struct settings *settings)
{
    signal(SIGPIPE, SIG_IGN);
    raise_descriptor_limit(daemon);
    int err = create_shared(daemon, settings);
    if (err == 0)
        err = control_open(&daemon->control, &daemon->uv, settings->control, &daemon->log);
    if (err == 0)
        err = start_workers(daemon, worker_count(settings));
    if (err != 0) {
        log_line(&daemon->log, SETTINGS_LOG_ERROR, "can't start: %s", strerror(-err));
        settings_free(settings);
        return err;
    }
    return apply(daemon, settings);
}

int daemon_run(const char *file, struct settings *settings)
{
    struct daemon daemon = {.file = file};
    log_init(&daemon.log, settings->log_level);
    list_init(&daemon.listeners);
    daemon.listener_owner = (struct listener_owner){.log = &daemon.log,
                                                    .refused_limit = &daemon.refused_limit,
                                                    .accept_limit = &daemon.accept_limit,
                                                    .accepted = on_accepted};
    daemon.control.asked = on_asked;
    if (uv_loop_init(&daemon.uv) != 0 ||
        mailbox_open(&daemon.home, &daemon.uv, round_deliver) != 0) {
        settings_free(settings);
        return EXIT_FAILURE;
    }
    watch(&daemon, &daemon.hup, SIGHUP);
    watch(&daemon, &daemon.term, SIGTERM);
    watch(&daemon, &daemon.interrupt, SIGINT);

    int err = start(&daemon, settings);
    if (err != 0) {
        daemon.stopping = true;
        stop_workers(&daemon);
    }
    uv_run(&daemon.uv, UV_RUN_DEFAULT);
    uv_loop_close(&daemon.uv);
    snapshot_drop(daemon.current);
    free(daemon.workers);
    order_destroy(daemon.order);
    cache_destroy(daemon.cache);
    return err == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
