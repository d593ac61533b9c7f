#include "tools/sweep_objects.h"

#include <stdlib.h>
#include <string.h>

#define DIFFERENCES_TOLD 10u

static void *need(void *memory)
{
    if (memory == NULL) {
        fputs("sweep: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

uint32_t objects_add(struct objects *o, uint32_t parent, const char *name)
{
    if (o->count == o->capacity) {
        o->capacity = o->capacity == 0 ? 1024 : o->capacity * 2;
        o->all = need(reallocarray(o->all, o->capacity, sizeof *o->all));
    }
    o->all[o->count] = (struct object){.parent = parent, .name = need(strdup(name))};
    return o->count++;
}

void objects_free(struct objects *o)
{
    for (uint32_t i = 0; i < o->count; i++)
        free(o->all[i].name);
    free(o->all);
    *o = (struct objects){.all = NULL};
}

static void put_escaped(const char *name, FILE *out)
{
    for (const unsigned char *c = (const unsigned char *)name; *c != '\0'; c++) {
        if (*c > ' ' && *c < 0x7f && *c != '%')
            fputc(*c, out);
        else
            fprintf(out, "%%%02X", *c);
    }
}

static void put_path(const struct objects *o, uint32_t index, FILE *out)
{
    const struct object *object = &o->all[index];
    if (object->parent != index) {
        put_path(o, object->parent, out);
        fputc('/', out);
    }
    put_escaped(object->name, out);
}

static void put_hex(const uint8_t *data, uint32_t len, FILE *out)
{
    for (uint32_t i = 0; i < len; i++)
        fprintf(out, "%02x", data[i]);
}

static void differ(struct objects *o, uint32_t index, const char *what, const uint8_t *was,
                   uint32_t was_len, const uint8_t *is, uint32_t is_len)
{
    if (o->differences++ >= DIFFERENCES_TOLD)
        return;
    fputs("sweep: ", stderr);
    put_path(o, index, stderr);
    fprintf(stderr, ": %s was ", what);
    put_hex(was, was_len, stderr);
    fputs(", is ", stderr);
    put_hex(is, is_len, stderr);
    fputc('\n', stderr);
}

void objects_saw_handle(struct objects *o, uint32_t index, const char *data, uint32_t len)
{
    struct object *object = &o->all[index];
    if (len == 0 || len > OBJECT_HANDLE_MAX) {
        differ(o, index, "length of a handle", NULL, 0, (const uint8_t *)data, 0);
    } else if (object->handle_len == 0) {
        object->handle_len = (uint8_t)len;
        memcpy(object->handle, data, len);
    } else if (object->handle_len != len || memcmp(object->handle, data, len) != 0) {
        differ(o, index, "handle", object->handle, object->handle_len, (const uint8_t *)data, len);
    }
}

void objects_saw_fattr(struct objects *o, uint32_t index, const uint8_t *fattr)
{
    struct object *object = &o->all[index];
    if (!object->has_fattr) {
        object->has_fattr = true;
        memcpy(object->fattr, fattr, OBJECT_FATTR_LEN);
    } else if (memcmp(object->fattr, fattr, OBJECT_FATTR_LEN) != 0) {
        differ(o, index, "fattr3", object->fattr, OBJECT_FATTR_LEN, fattr, OBJECT_FATTR_LEN);
    }
}

void objects_saw_access(struct objects *o, uint32_t index, uint32_t access)
{
    struct object *object = &o->all[index];
    if (!object->has_access) {
        object->has_access = true;
        object->access = access;
    } else if (object->access != access) {
        const uint8_t was = (uint8_t)object->access;
        const uint8_t is = (uint8_t)access;
        differ(o, index, "verdict", &was, 1, &is, 1);
    }
}

static char *object_line(const struct objects *o, uint32_t index)
{
    const struct object *object = &o->all[index];
    char *line = NULL;
    size_t len = 0;
    FILE *out = need(open_memstream(&line, &len));
    put_path(o, index, out);
    fputc(' ', out);
    put_hex(object->handle, object->handle_len, out);
    fputc(' ', out);
    put_hex(object->fattr, object->has_fattr ? OBJECT_FATTR_LEN : 0, out);
    if (object->has_access)
        fprintf(out, " %02x", object->access);
    else
        fputs(" -", out);
    if (fclose(out) != 0)
        need(NULL);
    return line;
}

static int line_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **objects_lines(const struct objects *o)
{
    char **lines = need(calloc(o->count + 1u, sizeof *lines));
    for (uint32_t i = 0; i < o->count; i++)
        lines[i] = object_line(o, i);
    qsort(lines, o->count, sizeof *lines, line_order);
    return lines;
}
