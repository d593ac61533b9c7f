/*
 * port: one port of the server (NFS or MOUNT) as one worker reaches it: an upstream and the sockets
 * of its links.
 *
 * A link connects, and connects again after a loss, for as long as the port lives: at once after one
 * that served, else with a growing delay. It keeps its source port over that where it can, so that
 * the server's duplicate request cache knows the calls it sends again.
 */
#ifndef PROXY_PORT_H
#define PROXY_PORT_H

#include "proxy/locate.h"
#include "proxy/log.h"
#include "proxy/service.h"
#include "proxy/stream.h"
#include "proxy/upstream.h"

struct port;

enum link_state {
    LINK_WAITING,    /* for its timer */
    LINK_LOCATING,   /* for the server's address */
    LINK_CONNECTING, /* for the server to accept */
    LINK_UP,
    LINK_CLOSING, /* the socket is being closed */
    LINK_GONE,    /* the port is being closed, and this link is */
};

struct link {
    struct port *port;
    unsigned number;
    enum link_state state;
    struct stream stream;
    struct locate locate;
    uv_connect_t connect;
    uv_timer_t timer;
    unsigned failures;    /* in a row; a connection that broke before it was of use is one */
    uint64_t up_since;    /* engine.now */
    uint16_t source_port; /* 0: none yet */
    int last_error;       /* that was logged */
};

struct port {
    struct list node; /* for the owner */
    struct upstream upstream;
    struct service *service;
    struct cache_server
        *cache; /* of this server, also when a reload has given the service another */
    struct stream_loop *loop;
    struct log *log;
    const char *what; /* "nfs" or "mount", for the log */
    char host[LOCATE_HOST_MAX];
    unsigned port;
    uint32_t program, version;
    enum settings_source_ports source_ports;
    bool doubts;   /* its losses put the cache in doubt */
    bool retiring; /* closes when nothing is outstanding */
    bool closing;
    unsigned handles; /* libuv's, still open */
    uv_timer_t tick;
    void (*closed)(struct port *port); /* the port is free()d after it */
    void *owner;
    unsigned links;
    struct link link[];
};

struct port_options {
    struct service *service;
    struct stream_loop *loop;
    struct log *log;
    const struct program *program;
    void (*closed)(struct port *port);
    void *owner;
};

/* From the service's settings, which may go away afterwards. Starts to connect. NULL without
 * memory. */
struct port *port_open(const struct port_options *options);
/* No more calls will be submitted: closes once those outstanding are answered. */
void port_retire(struct port *port);
/* Closes now: outstanding calls end without a reply. */
void port_close(struct port *port);
/* Whether these settings lead to another port than this one. */
bool port_differs(const struct port *port, const struct settings_service *settings);
/* Links that are connected. */
unsigned port_links_up(const struct port *port);

#endif
