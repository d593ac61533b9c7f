/*
 * daemon: starts, reloads and stops everything; runs on the process' main thread.
 *
 * A configuration comes into force in the same way at the start and at a reload: sockets for new addresses are bound
 * first, since that is what can fail; then nothing can any more: every worker takes the new snapshot, and the listeners
 * follow it.
 */
#include "proxy/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>

#include "proxy/collect.h"
#include "proxy/control.h"
#include "proxy/crew.h"
#include "proxy/listeners.h"
#include "proxy/order.h"
#include "proxy/snapshot.h"

/* Loops, the log, listening sockets, the control socket and those who ask there. */
#define DESCRIPTORS_OWN 128u

struct daemon {
    const char *file;
    uv_loop_t uv;
    struct log log;
    struct log_limit refused_limit, accept_limit;
    struct cache *cache;
    struct order *order;
    struct crew crew;
    struct snapshot *current;
    struct snapshot
        *started; /* the one it started with: keys that need a restart are still as there */
    struct listeners listeners;
    struct listener_owner listener_owner;
    struct control control;
    uv_signal_t hup, term, interrupt;
    struct round apply;
    bool applying;
    bool again; /* a reload was asked for while one was under way */
    bool stopping, ready;
    uint64_t descriptors; /* that the process may have */
};

/*
 * Clients must not use up the descriptors that connections to the servers need, or nobody would be
 * served any more after these were lost. Twice as many as are configured: a reload may replace them
 * all. No more than half of all are kept, though.
 */
static uint64_t descriptors_kept(const struct daemon *daemon)
{
    const struct settings *settings = daemon->current->settings;
    uint64_t links = 0;
    for (unsigned i = 0; i < settings->service_count; i++)
        links += settings->services[i].connections + 1; /* and one for MOUNT */
    uint64_t kept = DESCRIPTORS_OWN + 2 * links * daemon->crew.count;
    return kept < daemon->descriptors / 2 ? kept : daemon->descriptors / 2;
}

static bool has_room(const struct listener_owner *owner)
{
    const struct daemon *daemon = container_of(owner, struct daemon, listener_owner);
    return crew_connections(&daemon->crew) < daemon->descriptors - descriptors_kept(daemon);
}

static void on_accepted(struct listener_owner *owner, struct listener *listener, int fd)
{
    struct daemon *daemon = container_of(owner, struct daemon, listener_owner);
    crew_adopt(&daemon->crew, listener->settings->name, fd);
}

/* ---- a configuration comes into force ---- */

static void reload(struct daemon *daemon);

static void apply_each(struct round *round, struct worker *worker)
{
    worker_apply(worker, container_of(round, struct daemon, apply)->current);
}

static const char *plural(unsigned count)
{
    return count == 1 ? "" : "s";
}

static void apply_done(struct round *round)
{
    struct daemon *daemon = container_of(round, struct daemon, apply);
    unsigned services = daemon->current->settings->service_count;
    daemon->applying = false;
    log_line(&daemon->log, SETTINGS_LOG_INFO, "%s: %u service%s, %u worker%s",
             daemon->ready ? "reloaded" : "serving", services, plural(services), daemon->crew.count,
             plural(daemon->crew.count));
    daemon->ready = true;
    sd_notify(0, "READY=1");
    if (daemon->again && !daemon->stopping)
        reload(daemon);
}

static void say_not_yet(struct daemon *daemon, const struct settings *settings)
{
    static const char text[] = "is set, but this version does not do it yet";
    if (settings->http != NULL)
        log_line(&daemon->log, SETTINGS_LOG_WARNING, "http: %s", text);
    if (settings->rpcbind)
        log_line(&daemon->log, SETTINGS_LOG_WARNING, "rpcbind: %s", text);
}

static int apply_snapshot(struct daemon *daemon, struct snapshot *next)
{
    struct snapshot *old = daemon->current;
    daemon->current = next;
    daemon->apply.each = apply_each;
    daemon->apply.done = apply_done;
    int err = crew_round(&daemon->crew, &daemon->apply);
    if (err != 0) {
        daemon->current = old;
        snapshot_drop(next);
        return err;
    }
    daemon->applying = true;
    if (daemon->started == NULL)
        daemon->started = snapshot_take(next);
    log_set_level(&daemon->log, next->settings->log_level);
    listeners_follow(&daemon->listeners, next->settings);
    say_not_yet(daemon, next->settings);
    snapshot_drop(old);
    return 0;
}

/* Takes over `settings`. 0, or a negative error that is logged: what was in force stays. */
static int apply(struct daemon *daemon, struct settings *settings)
{
    int err = listeners_prepare(&daemon->listeners, settings);
    if (err != 0) {
        settings_free(settings);
        return err;
    }
    struct snapshot *next = snapshot_create(settings, daemon->cache, daemon->current, uv_hrtime());
    err = next != NULL ? apply_snapshot(daemon, next) : -ENOMEM;
    if (err != 0) {
        listeners_cancel(&daemon->listeners);
        log_line(&daemon->log, SETTINGS_LOG_ERROR, "no memory for the configuration");
    }
    return err;
}

static void reload_refused(struct daemon *daemon, const char *why)
{
    log_line(&daemon->log, SETTINGS_LOG_ERROR, "not reloaded, what was in force stays: %s", why);
    sd_notify(0, "READY=1");
}

static void reload(struct daemon *daemon)
{
    daemon->again = daemon->applying;
    if (daemon->applying)
        return;
    struct settings_error error;
    sd_notify(0, "RELOADING=1");
    struct settings *settings = settings_load(daemon->file, &error);
    if (settings == NULL) {
        reload_refused(daemon, error.text);
        return;
    }
    const char *key = settings_needs_restart(daemon->started->settings, settings);
    if (key != NULL)
        log_line(&daemon->log, SETTINGS_LOG_WARNING,
                 "%s: changes only when the daemon is started again", key);
    if (apply(daemon, settings) != 0)
        reload_refused(daemon, "see above");
}

/* ---- stat and flush ---- */

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
    struct collect_from from = {.crew = &daemon->crew,
                                .cache = daemon->cache,
                                .listeners = &daemon->listeners,
                                .snapshot = daemon->current};
    if (daemon->stopping || daemon->current == NULL)
        control_error(request, "the daemon is stopping");
    else if (strcmp(line, "stat") == 0)
        collect_start(&from, request);
    else if (strcmp(line, "flush") == 0)
        flush_asked(daemon, request, "");
    else if (strncmp(line, "flush ", 6) == 0)
        flush_asked(daemon, request, line + 6);
    else
        control_error(request, "the daemon does not know this request");
}

/* ---- the end ---- */

static void on_crew_stopped(struct crew *crew)
{
    struct daemon *daemon = container_of(crew, struct daemon, crew);
    control_close(&daemon->control);
    uv_close((uv_handle_t *)&daemon->hup, NULL);
    uv_close((uv_handle_t *)&daemon->term, NULL);
    uv_close((uv_handle_t *)&daemon->interrupt, NULL);
}

static void stop(struct daemon *daemon)
{
    if (daemon->stopping)
        return;
    daemon->stopping = true;
    sd_notify(0, "STOPPING=1");
    listeners_close(&daemon->listeners);
    crew_stop(&daemon->crew);
}

static void on_signal(uv_signal_t *signal, int number)
{
    struct daemon *daemon = signal->data;
    if (number != SIGHUP) {
        log_line(&daemon->log, SETTINGS_LOG_INFO, "stopping");
        stop(daemon);
    } else if (!daemon->stopping) {
        reload(daemon);
    }
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
    daemon->descriptors = UINT64_MAX;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    daemon->descriptors = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
        daemon->descriptors = limit.rlim_cur;
    else
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

static int start(struct daemon *daemon, struct settings *settings)
{
    int err = create_shared(daemon, settings);
    struct crew_options options = {
        .workers = settings->workers > 0 ? settings->workers : uv_available_parallelism(),
        .cache = daemon->cache,
        .order = daemon->order,
        .log = &daemon->log,
        .stopped = on_crew_stopped,
    };
    int crew_err = crew_start(&daemon->crew, &daemon->uv, &options);
    if (err == 0)
        err = crew_err;
    if (err == 0)
        err = control_open(&daemon->control, &daemon->uv, settings->control, &daemon->log);
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
    daemon.listener_owner = (struct listener_owner){.log = &daemon.log,
                                                    .refused_limit = &daemon.refused_limit,
                                                    .accept_limit = &daemon.accept_limit,
                                                    .has_room = has_room,
                                                    .accepted = on_accepted};
    daemon.control.asked = on_asked;
    signal(SIGPIPE, SIG_IGN);
    raise_descriptor_limit(&daemon);
    if (uv_loop_init(&daemon.uv) != 0) {
        settings_free(settings);
        return EXIT_FAILURE;
    }
    listeners_init(&daemon.listeners, &daemon.uv, &daemon.listener_owner);
    watch(&daemon, &daemon.hup, SIGHUP);
    watch(&daemon, &daemon.term, SIGTERM);
    watch(&daemon, &daemon.interrupt, SIGINT);

    int err = start(&daemon, settings);
    if (err != 0)
        stop(&daemon);
    uv_run(&daemon.uv, UV_RUN_DEFAULT);
    uv_loop_close(&daemon.uv);
    snapshot_drop(daemon.current);
    snapshot_drop(daemon.started);
    log_close(&daemon.log);
    order_destroy(daemon.order);
    cache_destroy(daemon.cache);
    return err == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
