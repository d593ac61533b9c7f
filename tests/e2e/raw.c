#include "e2e/raw.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RECORD_MAX  (256u << 20)
#define SEND_WAIT_S 30

void raw_clear(struct raw_buffer *b)
{
    b->len = b->at = 0;
    b->bad = false;
}

void raw_free(struct raw_buffer *b)
{
    free(b->data);
    *b = (struct raw_buffer){.data = NULL};
}

static uint8_t *room(struct raw_buffer *b, size_t len)
{
    if (b->capacity - b->len < len) {
        b->capacity = (b->len + len) * 2;
        b->data = realloc(b->data, b->capacity);
        if (b->data == NULL)
            abort();
    }
    b->len += len;
    return b->data + b->len - len;
}

void raw_put(struct raw_buffer *b, const void *data, size_t len)
{
    if (len > 0)
        memcpy(room(b, len), data, len);
}

void raw_put_u32(struct raw_buffer *b, uint32_t value)
{
    uint32_t wire = htonl(value);
    raw_put(b, &wire, sizeof wire);
}

void raw_put_u64(struct raw_buffer *b, uint64_t value)
{
    raw_put_u32(b, (uint32_t)(value >> 32));
    raw_put_u32(b, (uint32_t)value);
}

void raw_put_opaque(struct raw_buffer *b, const void *data, size_t len)
{
    static const uint8_t padding[3];
    raw_put_u32(b, (uint32_t)len);
    raw_put(b, data, len);
    raw_put(b, padding, (4 - len % 4) % 4);
}

const uint8_t *raw_get(struct raw_buffer *b, size_t len)
{
    if (b->bad || b->len - b->at < len) {
        b->bad = true;
        return NULL;
    }
    b->at += len;
    return b->data + b->at - len;
}

uint32_t raw_get_u32(struct raw_buffer *b)
{
    uint32_t wire = 0;
    const uint8_t *from = raw_get(b, sizeof wire);
    if (from != NULL)
        memcpy(&wire, from, sizeof wire);
    return ntohl(wire);
}

void raw_put_call(struct raw_buffer *b, uint32_t xid, uint32_t program, uint32_t version,
                  uint32_t procedure)
{
    static const uint32_t auth_sys[] = {0, 0, 0, 0, 0}; /* stamp, machine name, uid, gid, groups */
    const uint32_t head[] = {xid, 0, 2, program, version, procedure, 1, sizeof auth_sys};
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        raw_put_u32(b, head[i]);
    raw_put(b, auth_sys, sizeof auth_sys);
    raw_put_u64(b, 0); /* no verifier */
}

int raw_connect(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval wait = {.tv_sec = SEND_WAIT_S};
    int yes = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) != 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0 ||
        connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        int err = -errno;
        close(fd);
        return err;
    }
    return fd;
}

int raw_send(int fd, const void *data, size_t len)
{
    for (const uint8_t *at = data; len > 0;) {
        ssize_t n = send(fd, at, len, MSG_NOSIGNAL);
        if (n < 0)
            return -errno;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

int raw_send_record(int fd, const struct raw_buffer *b)
{
    uint32_t mark = htonl(RAW_MARK_LAST | (uint32_t)b->len);
    int err = raw_send(fd, &mark, sizeof mark);
    return err != 0 ? err : raw_send(fd, b->data, b->len);
}

static int receive(int fd, uint8_t *to, size_t len, int ms)
{
    while (len > 0) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = poll(&p, 1, ms);
        if (ready <= 0)
            return ready == 0 ? -ETIMEDOUT : -errno;
        ssize_t n = recv(fd, to, len, 0);
        if (n <= 0)
            return n == 0 ? -ECONNRESET : -errno;
        to += n;
        len -= (size_t)n;
    }
    return 0;
}

int raw_receive(int fd, struct raw_buffer *b, int ms)
{
    uint32_t mark = 0;
    raw_clear(b);
    while ((ntohl(mark) & RAW_MARK_LAST) == 0) {
        int err = receive(fd, (uint8_t *)&mark, sizeof mark, ms);
        if (err != 0)
            return err;
        size_t len = ntohl(mark) & ~RAW_MARK_LAST;
        if (len > RECORD_MAX)
            return -EMSGSIZE;
        err = receive(fd, room(b, len), len, ms);
        if (err != 0)
            return err;
    }
    return 0;
}

int raw_wait_closed(int fd, int ms)
{
    uint8_t octet;
    int err = receive(fd, &octet, 1, ms);
    return err == -ECONNRESET || err == -EPIPE ? 0 : err == 0 ? -EPROTO : err;
}
