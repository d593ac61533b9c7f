/*
 * relay: a TCP relay that makes a server look far away, and counts the RPC calls that pass.
 *
 *   relay [--listen ADDRESS] [--delay-ms ROUND_TRIP] [--control PORT] LISTEN_PORT HOST:PORT
 * [LISTEN_PORT HOST:PORT]…
 *
 * --delay-ms is what is added to a round trip, half of it each way (relay_link.h says how). The
 * counts are of all the pairs of ports together. "ready" is printed once every port is open. SIGINT
 * and SIGTERM end it.
 *
 * At the control port (on 127.0.0.1) each line is a command and gets one line back:
 *
 *   counts     the calls so far, as JSON (call_counts.h)
 *   reset      the same, and begins anew
 *   delay MS   the round trip from now on
 *   drop       resets every connection
 *   hold       lets nothing through, until
 *   release
 */
#include "tools/relay_link.h"

#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BACKLOG       1024
#define COMMAND_MAX   64
#define DELAY_MAX_MS  60000.0
#define LISTENERS_MAX 16

struct listener {
    uv_tcp_t tcp;
    struct relay *relay;
    struct sockaddr_storage target;
};

struct relay {
    uv_loop_t loop;
    uv_tcp_t control;
    uv_signal_t signals[2];
    struct listener listeners[LISTENERS_MAX];
    struct relay_links links;
};

/* A connection to the control port. */
struct session {
    uv_tcp_t tcp;
    struct relay *relay;
    char line[COMMAND_MAX];
    size_t len;
    char input[COMMAND_MAX];
};

struct answer {
    uv_write_t write;
    char *text;
};

static void on_session_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void session_close(struct session *session)
{
    if (!uv_is_closing((uv_handle_t *)&session->tcp))
        uv_close((uv_handle_t *)&session->tcp, on_session_closed);
}

static bool delay_parse(const char *text, uint64_t *one_way_ns)
{
    char *end;
    double ms = strtod(text, &end);
    if (end == text || *end != '\0' || !(ms >= 0 && ms <= DELAY_MAX_MS))
        return false;
    *one_way_ns = (uint64_t)(ms * 1e6 / 2);
    return true;
}

static void command_run(struct relay *relay, const char *line, FILE *out)
{
    struct relay_links *links = &relay->links;
    const char delay[] = "delay ";
    uint64_t one_way;
    bool reset = strcmp(line, "reset") == 0;
    if (reset || strcmp(line, "counts") == 0) {
        call_counts_print(&links->counts, out);
        fputc('\n', out);
        if (reset)
            links->counts = (struct call_counts){.other = 0};
        return;
    }
    if (strncmp(line, delay, sizeof delay - 1) == 0 &&
        delay_parse(line + sizeof delay - 1, &one_way)) {
        relay_links_delay(links, one_way);
    } else if (strcmp(line, "drop") == 0) {
        relay_links_drop(links);
    } else if (strcmp(line, "hold") == 0 || strcmp(line, "release") == 0) {
        relay_links_hold(links, line[0] == 'h');
    } else {
        fputs("error: counts, reset, delay MS, drop, hold or release\n", out);
        return;
    }
    fputs("ok\n", out);
}

static void on_answered(uv_write_t *write, int status)
{
    (void)status;
    struct answer *answer = write->data;
    free(answer->text);
    free(answer);
}

static void session_answer(struct session *session)
{
    struct answer *answer = calloc(1, sizeof *answer);
    size_t len = 0;
    FILE *out = answer == NULL ? NULL : open_memstream(&answer->text, &len);
    if (out == NULL) {
        free(answer);
        session_close(session);
        return;
    }
    command_run(session->relay, session->line, out);
    bool written = fclose(out) == 0;
    answer->write.data = answer;
    uv_buf_t buf = uv_buf_init(answer->text, (unsigned)len);
    if (!written ||
        uv_write(&answer->write, (uv_stream_t *)&session->tcp, &buf, 1, on_answered) != 0) {
        on_answered(&answer->write, 0);
        session_close(session);
    }
}

static void session_buffer(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    (void)suggested;
    struct session *session = handle->data;
    *buf = uv_buf_init(session->input, sizeof session->input);
}

static void on_session_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct session *session = stream->data;
    if (n < 0) {
        session_close(session);
        return;
    }
    for (ssize_t i = 0; i < n; i++) {
        if (buf->base[i] == '\n') {
            session->line[session->len] = '\0';
            session->len = 0;
            session_answer(session);
        } else if (session->len + 1 < sizeof session->line) {
            session->line[session->len++] = buf->base[i];
        }
    }
}

static void on_control(uv_stream_t *listener, int status)
{
    struct relay *relay = listener->data;
    struct session *session = status == 0 ? calloc(1, sizeof *session) : NULL;
    if (session == NULL)
        return;
    session->relay = relay;
    session->tcp.data = session;
    uv_tcp_init(&relay->loop, &session->tcp);
    if (uv_accept(listener, (uv_stream_t *)&session->tcp) != 0 ||
        uv_read_start((uv_stream_t *)&session->tcp, session_buffer, on_session_read) != 0)
        session_close(session);
}

static void on_connection(uv_stream_t *stream, int status)
{
    struct listener *listener = stream->data;
    if (status == 0)
        relay_links_accept(&listener->relay->links, stream,
                           (const struct sockaddr *)&listener->target);
}

static void on_signal(uv_signal_t *handle, int signum)
{
    (void)signum;
    uv_stop(handle->loop);
}

static int port_open(struct relay *relay, uv_tcp_t *tcp, const char *address, const char *port,
                     uv_connection_cb on_open)
{
    struct sockaddr_in in;
    char *end;
    long number = strtol(port, &end, 10);
    if (end == port || *end != '\0' || number < 1 || number > UINT16_MAX) {
        fprintf(stderr, "relay: %s: not a port\n", port);
        return -EINVAL;
    }
    int err = uv_ip4_addr(address, (int)number, &in);
    if (err == 0)
        err = uv_tcp_init(&relay->loop, tcp);
    if (err == 0)
        err = uv_tcp_bind(tcp, (const struct sockaddr *)&in, 0);
    if (err == 0)
        err = uv_listen((uv_stream_t *)tcp, BACKLOG, on_open);
    if (err != 0)
        fprintf(stderr, "relay: %s:%s: %s\n", address, port, uv_strerror(err));
    return err;
}

static int target_resolve(struct listener *listener, const char *text)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const char *colon = strrchr(text, ':');
    char *host = colon == NULL ? NULL : strndup(text, (size_t)(colon - text));
    int err = host == NULL ? EAI_NONAME : getaddrinfo(host, colon + 1, &hints, &found);
    free(host);
    if (err != 0) {
        fprintf(stderr, "relay: %s: %s\n", text, gai_strerror(err));
        return -EINVAL;
    }
    memcpy(&listener->target, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return 0;
}

static int listeners_open(struct relay *relay, const char *address, char **pairs, int count)
{
    int err = 0;
    for (size_t i = 0; err == 0 && i < (size_t)count / 2; i++) {
        struct listener *listener = &relay->listeners[i];
        listener->relay = relay;
        listener->tcp.data = listener;
        err = target_resolve(listener, pairs[2 * i + 1]);
        if (err == 0)
            err = port_open(relay, &listener->tcp, address, pairs[2 * i], on_connection);
    }
    return err;
}

static int control_open(struct relay *relay, const char *port)
{
    relay->control.data = relay;
    return port == NULL ? 0 : port_open(relay, &relay->control, "127.0.0.1", port, on_control);
}

static int signals_catch(struct relay *relay)
{
    const int numbers[] = {SIGINT, SIGTERM};
    int err = 0;
    for (size_t i = 0; err == 0 && i < 2; i++) {
        err = uv_signal_init(&relay->loop, &relay->signals[i]);
        if (err == 0)
            err = uv_signal_start(&relay->signals[i], on_signal, numbers[i]);
    }
    return err;
}

static void files_allow_many(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"listen", required_argument, NULL, 'l'},
                                            {"delay-ms", required_argument, NULL, 'd'},
                                            {"control", required_argument, NULL, 'c'},
                                            {0}};
    const char *address = "127.0.0.1";
    const char *control = NULL;
    uint64_t delay = 0;
    bool good = true;
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'l')
            address = optarg;
        else if (option == 'c')
            control = optarg;
        else
            good = option == 'd' && delay_parse(optarg, &delay) && good;
    }
    int pairs = argc - optind;
    if (!good || pairs < 2 || pairs % 2 != 0 || pairs / 2 > LISTENERS_MAX) {
        fputs("usage: relay [--listen ADDRESS] [--delay-ms ROUND_TRIP] [--control PORT] "
              "LISTEN_PORT HOST:PORT [LISTEN_PORT HOST:PORT]...\n",
              stderr);
        return 2;
    }
    struct relay *relay = calloc(1, sizeof *relay);
    if (relay == NULL || uv_loop_init(&relay->loop) != 0)
        return 1;
    files_allow_many();
    if (relay_links_init(&relay->links, &relay->loop, delay) != 0 || signals_catch(relay) != 0 ||
        listeners_open(relay, address, argv + optind, pairs) != 0 ||
        control_open(relay, control) != 0)
        return 1;
    puts("ready");
    fflush(stdout);
    uv_run(&relay->loop, UV_RUN_DEFAULT);
    _exit(0); /* what is open ends with the process */
}
