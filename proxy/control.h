/*
 * control: the unix socket through which `nfsaccel stat` and `nfsaccel flush` talk to the daemon.
 *
 * One request per connection: a line, "stat", "flush" or "flush SERVICE"; the answer is one JSON
 * object, then the end. An error is {"error": TEXT}.
 */
#ifndef PROXY_CONTROL_H
#define PROXY_CONTROL_H

#include <jansson.h>
#include <uv.h>

#include "proxy/container.h"
#include "proxy/log.h"

#define CONTROL_LINE_MAX 256u

struct control_request;

struct control {
    uv_pipe_t pipe;
    struct log *log;
    char *path;
    struct list requests;
    unsigned count;
    bool open;
    /* A line came; control_answer has to be called, now or later. */
    void (*asked)(struct control *control, struct control_request *request, const char *line);
};

/* 0 or a negative error; it is logged. Makes the socket's folder if that is missing; only its owner
 * may connect. */
int control_open(struct control *control, uv_loop_t *uv, const char *path, struct log *log);
/* Removes the socket. Requests that wait for their answer get none. */
void control_close(struct control *control);

/* `answer` (a reference that is taken over) goes out, and the connection ends. NULL: without
 * memory. */
void control_answer(struct control_request *request, json_t *answer);
void control_error(struct control_request *request, const char *text);

/* The other side, for the commands: one request, one answer, blocking. NULL: `error` says why. */
json_t *control_ask(const char *path, const char *line, char *error, size_t size);

#endif
