/*
 * sweep: NFS clients that sweep an export at the same time, as `du` does, and check each octet they
 * are told.
 *
 *   sweep --path EXPORT [--host ADDRESS] [--port N] [--mount-port N] [--clients N] [--window N]
 * [--sweeps N]
 *         [--relay CONTROL_PORT] [--json FILE] [--dump FILE]
 *
 * What one client does is said in sweep_client.h. All begin a sweep together, once the last one is
 * done with the one before. Whatever is seen twice must be the same, for one client and between
 * clients.
 *
 * --relay     also asks the relay with this control port (relay.c) how many calls passed it in each
 * sweep
 * --json      what each sweep cost: {"sweeps": [{"sweep", "seconds", "calls", "relay"}], "objects",
 * "differences"}
 * --dump      what was seen of each object (objects_lines), to be compared with another run's
 *
 * Exit status: 0; 1 when something failed or differed; 2 for a bad command line.
 */
#include "tools/sweep_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS_MAX   256u
#define POLL_MS       1000
#define SILENCE_MAX_S 60.0

struct options {
    struct sweep_target target;
    unsigned long clients;
    unsigned long sweeps;
    unsigned long relay; /* 0: none */
    const char *json;
    const char *dump;
};

struct sweep {
    const struct options *options;
    struct sweep_client *clients;
    FILE *json; /* or NULL */
};

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* One command to the relay's control port; its answer without the newline, or NULL. The caller
 * frees it. */
static char *relay_ask(unsigned long port, const char *command)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char *line = NULL;
    size_t size = 0;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return NULL;
    FILE *in = NULL;
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
        dprintf(fd, "%s\n", command) > 0)
        in = fdopen(fd, "r");
    if (in == NULL) {
        close(fd);
        return NULL;
    }
    ssize_t len = getline(&line, &size, in);
    (void)fclose(in);
    if (len <= 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\n")] = '\0';
    return line;
}

static bool any_busy(const struct sweep *s)
{
    for (unsigned i = 0; i < s->options->clients; i++)
        if (sweep_client_busy(&s->clients[i]))
            return true;
    return false;
}

static bool any_failed(const struct sweep *s)
{
    for (unsigned i = 0; i < s->options->clients; i++)
        if (s->clients[i].failed)
            return true;
    return false;
}

static uint64_t replies(const struct sweep *s)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < s->options->clients; i++)
        sum += s->clients[i].replies;
    return sum;
}

/* Serves every client until all are done. */
static int run(struct sweep *s)
{
    struct pollfd fds[CLIENTS_MAX];
    const unsigned count = (unsigned)s->options->clients;
    double last_reply = seconds_now();
    uint64_t last_replies = 0;
    while (any_busy(s) && !any_failed(s)) {
        for (unsigned i = 0; i < count; i++)
            fds[i] = (struct pollfd){.fd = sweep_client_fd(&s->clients[i]),
                                     .events = sweep_client_events(&s->clients[i])};
        if (poll(fds, count, POLL_MS) < 0 && errno != EINTR)
            return -errno;
        for (unsigned i = 0; i < count; i++)
            if (fds[i].revents != 0)
                sweep_client_service(&s->clients[i], fds[i].revents);
        if (replies(s) != last_replies) {
            last_replies = replies(s);
            last_reply = seconds_now();
        } else if (seconds_now() - last_reply > SILENCE_MAX_S) {
            fputs("sweep: no reply for a minute\n", stderr);
            return -ETIMEDOUT;
        }
    }
    return any_failed(s) ? -EIO : 0;
}

static struct call_counts counts_take(struct sweep *s)
{
    struct call_counts sum = {.other = 0};
    for (unsigned i = 0; i < s->options->clients; i++) {
        struct call_counts *own = &s->clients[i].counts;
        for (unsigned p = 0; p < CALL_PROGRAMS; p++)
            for (unsigned q = 0; q < CALL_PROCEDURES; q++)
                sum.calls[p][q] += own->calls[p][q];
        *own = (struct call_counts){.other = 0};
    }
    return sum;
}

static int report(struct sweep *s, unsigned number, double seconds)
{
    struct call_counts counts = counts_take(s);
    uint64_t sum = 0;
    for (unsigned q = 0; q < CALL_PROCEDURES; q++)
        sum += counts.calls[0][q];
    fprintf(stderr, "  sweep %u: %8llu calls in %6.2f s, %.0f per second\n", number,
            (unsigned long long)sum, seconds, (double)sum / seconds);
    char *relay = s->options->relay == 0 ? NULL : relay_ask(s->options->relay, "reset");
    if (s->options->relay != 0 && relay == NULL) {
        fputs("sweep: the relay does not answer\n", stderr);
        return -EIO;
    }
    if (s->json != NULL) {
        fprintf(s->json, "%s{\"sweep\":%u,\"seconds\":%.3f,\"calls\":", number == 1 ? "" : ",\n",
                number, seconds);
        call_counts_print(&counts, s->json);
        fprintf(s->json, ",\"relay\":%s}", relay == NULL ? "null" : relay);
    }
    free(relay);
    return 0;
}

static int sweep_once(struct sweep *s, unsigned number)
{
    double start = seconds_now();
    for (unsigned i = 0; i < s->options->clients; i++)
        sweep_client_begin(&s->clients[i]);
    int err = run(s);
    return err != 0 ? err : report(s, number, seconds_now() - start);
}

static void lines_free(char **lines, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(lines[i]);
    free(lines);
}

/* How many lines of the two differ. */
static uint64_t lines_compare(char **a, uint32_t a_count, char **b, uint32_t b_count)
{
    uint64_t differences = a_count > b_count ? a_count - b_count : b_count - a_count;
    for (uint32_t i = 0; i < a_count && i < b_count; i++)
        if (strcmp(a[i], b[i]) != 0)
            differences++;
    return differences;
}

/* How often a client saw something that differs from what it, or the first client, saw before. */
static uint64_t differences(const struct sweep *s, char **first)
{
    uint64_t sum = s->clients[0].objects.differences;
    for (unsigned i = 1; i < s->options->clients; i++) {
        const struct objects *o = &s->clients[i].objects;
        char **lines = objects_lines(o);
        sum += o->differences + lines_compare(first, s->clients[0].objects.count, lines, o->count);
        lines_free(lines, o->count);
    }
    return sum;
}

static int dump(const char *file, char **lines, uint32_t count)
{
    FILE *out = fopen(file, "w");
    if (out == NULL)
        return -errno;
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "%s\n", lines[i]);
    return fclose(out) == 0 ? 0 : -EIO;
}

static int conclude(struct sweep *s)
{
    uint32_t count = s->clients[0].objects.count;
    char **lines = objects_lines(&s->clients[0].objects);
    uint64_t differing = differences(s, lines);
    int err = s->options->dump == NULL ? 0 : dump(s->options->dump, lines, count);
    if (err != 0)
        fprintf(stderr, "sweep: %s: %s\n", s->options->dump, strerror(-err));
    lines_free(lines, count);
    fprintf(stderr, "  %u objects seen by each of %lu clients, %llu differences\n", count,
            s->options->clients, (unsigned long long)differing);
    if (s->json != NULL)
        fprintf(s->json, "],\n\"objects\":%u,\"differences\":%llu}\n", count,
                (unsigned long long)differing);
    return err != 0 || differing == 0 ? err : -EBADMSG;
}

static int sweep_all(struct sweep *s)
{
    int err = 0;
    if (s->options->relay != 0)
        free(relay_ask(s->options->relay, "reset"));
    for (unsigned i = 0; err == 0 && i < s->options->clients; i++)
        err = sweep_client_start(&s->clients[i], &s->options->target);
    if (s->json != NULL)
        fputs("{\"sweeps\":[\n", s->json);
    for (unsigned i = 1; err == 0 && i <= s->options->sweeps; i++)
        err = sweep_once(s, i);
    return err != 0 ? err : conclude(s);
}

static bool number(const char *text, unsigned long max, unsigned long *value)
{
    char *end;
    errno = 0;
    *value = strtoul(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *value >= 1 && *value <= max;
}

static bool options_parse(int argc, char **argv, struct options *o)
{
    static const struct option known[] = {{"path", required_argument, NULL, 'P'},
                                          {"host", required_argument, NULL, 'h'},
                                          {"port", required_argument, NULL, 'p'},
                                          {"mount-port", required_argument, NULL, 'm'},
                                          {"clients", required_argument, NULL, 'c'},
                                          {"window", required_argument, NULL, 'w'},
                                          {"sweeps", required_argument, NULL, 's'},
                                          {"relay", required_argument, NULL, 'r'},
                                          {"json", required_argument, NULL, 'j'},
                                          {"dump", required_argument, NULL, 'd'},
                                          {0}};
    unsigned long port = 2049;
    unsigned long mount_port = 0;
    unsigned long window = o->target.window;
    bool good = true;
    int option;
    while (good && (option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (option) {
        case 'P':
            o->target.path = optarg;
            break;
        case 'h':
            o->target.host = optarg;
            break;
        case 'j':
            o->json = optarg;
            break;
        case 'd':
            o->dump = optarg;
            break;
        case 'p':
            good = number(optarg, UINT16_MAX, &port);
            break;
        case 'm':
            good = number(optarg, UINT16_MAX, &mount_port);
            break;
        case 'c':
            good = number(optarg, CLIENTS_MAX, &o->clients);
            break;
        case 'w':
            good = number(optarg, SWEEP_WINDOW_MAX, &window);
            break;
        case 's':
            good = number(optarg, UINT16_MAX, &o->sweeps);
            break;
        case 'r':
            good = number(optarg, UINT16_MAX, &o->relay);
            break;
        default:
            good = false;
            break;
        }
    }
    o->target.port = (int)port;
    o->target.mount_port = (int)(mount_port == 0 ? port : mount_port);
    o->target.window = (unsigned)window;
    return good && optind == argc && o->target.path != NULL;
}

int main(int argc, char **argv)
{
    struct options options = {
        .target = {.host = "127.0.0.1", .window = 16}, .clients = 8, .sweeps = 3};
    if (!options_parse(argc, argv, &options)) {
        fputs("usage: sweep --path EXPORT [--host ADDRESS] [--port N] [--mount-port N] "
              "[--clients N] [--window N] [--sweeps N] [--relay CONTROL_PORT] [--json FILE] "
              "[--dump FILE]\n",
              stderr);
        return 2;
    }
    struct sweep sweep = {.options = &options};
    sweep.clients = calloc(options.clients, sizeof *sweep.clients);
    if (sweep.clients == NULL)
        return 1;
    if (options.json != NULL && (sweep.json = fopen(options.json, "w")) == NULL) {
        fprintf(stderr, "sweep: %s: %s\n", options.json, strerror(errno));
        free(sweep.clients);
        return 1;
    }
    int err = sweep_all(&sweep);
    if (sweep.json != NULL && fclose(sweep.json) != 0)
        err = -EIO;
    for (unsigned i = 0; i < options.clients; i++)
        sweep_client_stop(&sweep.clients[i]);
    free(sweep.clients);
    return err == 0 ? 0 : 1;
}
