/*
 * raw: RPC records on a plain socket, for what libnfs can't or won't send: bad ones, and very long ones.
 *
 * It shares no code with the proxy. A buffer is built from the front by raw_put_*, and read from `at` by
 * raw_get_*, whose first error sticks: after it everything read is zero.
 */
#ifndef E2E_RAW_H
#define E2E_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAW_MARK_LAST 0x80000000u

struct raw_buffer {
    uint8_t *data;
    size_t len, capacity;
    size_t at;
    bool bad;
};

void raw_clear(struct raw_buffer *b);
void raw_free(struct raw_buffer *b);
void raw_put(struct raw_buffer *b, const void *data, size_t len);
void raw_put_u32(struct raw_buffer *b, uint32_t value);
void raw_put_u64(struct raw_buffer *b, uint64_t value);
/* With its length before and padding behind. */
void raw_put_opaque(struct raw_buffer *b, const void *data, size_t len);
uint32_t raw_get_u32(struct raw_buffer *b);
/* NULL when there is not that much. */
const uint8_t *raw_get(struct raw_buffer *b, size_t len);

/* Begins a call: RPC version 2, AUTH_SYS of root. */
void raw_put_call(struct raw_buffer *b, uint32_t xid, uint32_t program, uint32_t version,
                  uint32_t procedure);

/* A connection to 127.0.0.1:port, or a negative errno. */
int raw_connect(int port);
int raw_send(int fd, const void *data, size_t len);
/* The whole buffer as one record of one fragment. */
int raw_send_record(int fd, const struct raw_buffer *b);
/* Waits at most `ms` for a record. 0; -ECONNRESET when the other side has closed; -ETIMEDOUT; another
 * negative errno. */
int raw_receive(int fd, struct raw_buffer *b, int ms);
/* As raw_receive when nothing but the end of the connection may come: 0 when it has. */
int raw_wait_closed(int fd, int ms);

#endif
