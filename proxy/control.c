/*
 * control: the daemon's side.
 */
#include "proxy/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG      16
#define REQUESTS_MAX 64u

struct control_request {
    struct list node;
    struct control *control;
    uv_pipe_t pipe;
    uv_write_t write;
    char line[CONTROL_LINE_MAX];
    size_t len;
    char *answer;
    bool asked;  /* the daemon owes an answer */
    bool closed; /* the connection is gone */
};

/* Freed when the connection is gone and the daemon is through with it. */
static void request_maybe_free(struct control_request *request)
{
    if (!request->closed || request->asked)
        return;
    list_remove(&request->node);
    request->control->count--;
    free(request->answer);
    free(request);
}

static void on_request_closed(uv_handle_t *handle)
{
    struct control_request *request =
        container_of((uv_pipe_t *)handle, struct control_request, pipe);
    request->closed = true;
    request_maybe_free(request);
}

static void request_close(struct control_request *request)
{
    if (!uv_is_closing((uv_handle_t *)&request->pipe))
        uv_close((uv_handle_t *)&request->pipe, on_request_closed);
}

static void on_written(uv_write_t *write, int status)
{
    (void)status;
    request_close(container_of(write, struct control_request, write));
}

void control_answer(struct control_request *request, json_t *answer)
{
    request->asked = false;
    if (answer != NULL)
        request->answer = json_dumps(answer, JSON_COMPACT);
    json_decref(answer);
    if (request->closed) {
        request_maybe_free(request);
        return;
    }
    if (request->answer == NULL || uv_is_closing((uv_handle_t *)&request->pipe)) {
        request_close(request);
        return;
    }
    uv_buf_t buf = uv_buf_init(request->answer, (unsigned)strlen(request->answer));
    if (uv_write(&request->write, (uv_stream_t *)&request->pipe, &buf, 1, on_written) != 0)
        request_close(request);
}

void control_error(struct control_request *request, const char *text)
{
    json_t *answer = json_pack("{s:s}", "error", text);
    if (answer == NULL) /* what it quotes is no UTF-8 */
        answer = json_pack("{s:s}", "error", "the daemon can't read this request");
    control_answer(request, answer);
}

/* ---- reading a line ---- */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    (void)suggested;
    struct control_request *request =
        container_of((uv_pipe_t *)handle, struct control_request, pipe);
    *buf = uv_buf_init(request->line + request->len,
                       (unsigned)(sizeof(request->line) - 1 - request->len));
}

static void on_read(uv_stream_t *stream, ssize_t nread, const uv_buf_t *buf)
{
    (void)buf;
    struct control_request *request =
        container_of((uv_pipe_t *)stream, struct control_request, pipe);
    if (nread == 0)
        return;
    if (nread < 0) {
        request_close(request);
        return;
    }
    request->len += (size_t)nread;
    request->line[request->len] = '\0';
    char *end = memchr(request->line, '\n', request->len);
    if (end == NULL && request->len < sizeof(request->line) - 1)
        return;
    uv_read_stop(stream);
    request->asked = true;
    if (end == NULL) {
        control_error(request, "the request is too long");
        return;
    }
    *end = '\0';
    request->control->asked(request->control, request, request->line);
}

/* Whoever connects and says nothing keeps nobody else out. */
static void make_place(struct control *control)
{
    for (struct list *node = control->requests.next; node != &control->requests;
         node = node->next) {
        struct control_request *request = container_of(node, struct control_request, node);
        if (!request->asked && request->answer == NULL &&
            !uv_is_closing((uv_handle_t *)&request->pipe)) {
            request_close(request);
            return;
        }
    }
}

static void on_connection(uv_stream_t *server, int status)
{
    struct control *control = container_of((uv_pipe_t *)server, struct control, pipe);
    if (status != 0)
        return;
    struct control_request *request = calloc(1, sizeof(*request));
    if (request == NULL)
        return; /* libuv holds the connection and asks again with the next one */
    request->control = control;
    uv_pipe_init(server->loop, &request->pipe, 0);
    if (control->count >= REQUESTS_MAX)
        make_place(control);
    list_append(&control->requests, &request->node);
    control->count++;
    if (uv_accept(server, (uv_stream_t *)&request->pipe) != 0 ||
        control->count > 2 * REQUESTS_MAX || /* closing, or waiting for their answers */
        uv_read_start((uv_stream_t *)&request->pipe, on_alloc, on_read) != 0)
        request_close(request);
}

/* ---- the socket ---- */

/* "/run/nfsaccel" is gone after a reboot where nobody else makes it. */
static void make_folder(const char *path)
{
    char folder[sizeof(((struct sockaddr_un *)0)->sun_path)];
    snprintf(folder, sizeof(folder), "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL || slash == folder)
        return;
    *slash = '\0';
    if (mkdir(folder, 0755) != 0 && errno != EEXIST)
        return; /* bind says what is wrong */
}

/* A socket that a dead daemon left behind is removed; one that answers is another daemon's. */
static int remove_stale(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat st;
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISSOCK(st.st_mode))
        return -EEXIST;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int err = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ? -EADDRINUSE : 0;
    close(fd);
    if (err == 0 && unlink(path) != 0 && errno != ENOENT)
        err = -errno;
    return err;
}

static int listen_on(struct control *control, const char *path)
{
    int err = remove_stale(path);
    if (err != 0)
        return err;
    mode_t mask = umask(0177);
    err = uv_pipe_bind(&control->pipe, path);
    umask(mask);
    if (err != 0)
        return err;
    return uv_listen((uv_stream_t *)&control->pipe, BACKLOG, on_connection);
}

int control_open(struct control *control, uv_loop_t *uv, const char *path, struct log *log)
{
    control->log = log;
    list_init(&control->requests);
    uv_pipe_init(uv, &control->pipe, 0);
    control->open = true;
    make_folder(path);
    int err = listen_on(control, path);
    if (err != 0) {
        log_line(log, SETTINGS_LOG_ERROR, "can't open the control socket %s: %s", path,
                 err == -EADDRINUSE ? "another daemon answers there" : strerror(-err));
        return err;
    }
    control->path = strdup(path);
    return 0;
}

void control_close(struct control *control)
{
    if (!control->open)
        return;
    control->open = false;
    uv_close((uv_handle_t *)&control->pipe, NULL);
    for (struct list *node = control->requests.next; node != &control->requests; node = node->next)
        request_close(container_of(node, struct control_request, node));
    if (control->path != NULL)
        unlink(control->path);
    free(control->path);
    control->path = NULL;
}

/* ---- the other side ---- */

static json_t *fail(char *error, size_t size, const char *path, const char *why)
{
    snprintf(error, size, "%s: %s", path, why);
    return NULL;
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        int err = -errno;
        close(fd);
        return err;
    }
    return fd;
}

/* In one piece: it is short, and the socket's buffer is empty. */
static bool send_line(int fd, const char *line)
{
    char text[CONTROL_LINE_MAX + 1];
    int len = snprintf(text, sizeof(text), "%s\n", line);
    return len > 0 && (size_t)len < sizeof(text) &&
           send(fd, text, (size_t)len, MSG_NOSIGNAL) == len;
}

static const char *reason(int err)
{
    if (err == -ENOENT || err == -ECONNREFUSED)
        return "no daemon is running there";
    if (err == -EACCES)
        return "not permitted: only the daemon's user and root may ask";
    return strerror(-err);
}

json_t *control_ask(const char *path, const char *line, char *error, size_t size)
{
    int fd = connect_to(path);
    if (fd < 0)
        return fail(error, size, path, reason(fd));
    if (!send_line(fd, line)) {
        close(fd);
        return fail(error, size, path, "the daemon hung up");
    }
    json_error_t parse;
    json_t *answer = json_loadfd(fd, 0, &parse);
    close(fd);
    if (answer == NULL)
        return fail(error, size, path, "the daemon's answer is cut off");
    const char *said = json_string_value(json_object_get(answer, "error"));
    if (said != NULL) {
        snprintf(error, size, "%s", said);
        json_decref(answer);
        return NULL;
    }
    return answer;
}
