#include "config/settings_table.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* The words of each choice, in the order of the enum's values. */
static const char *const log_levels[] = {"error", "warning", "info", "debug", NULL};
static const char *const port_choices[] = {"auto", "reserved", "any", NULL};
static const char *const coherences[] = {"shared", "exclusive", NULL};
static const char *const squashes[] = {"none", "root", "all", NULL};

static_assert(SETTINGS_LOG_DEBUG == 3 && SETTINGS_PORTS_ANY == 2 && SETTINGS_EXCLUSIVE == 1 &&
                  SETTINGS_SQUASH_ALL == 2,
              "the words above name every value");

#define DAEMON(name) .section = SETTINGS_SECTION_DAEMON, .offset = offsetof(struct settings, name)
#define CACHE(name)  .section = SETTINGS_SECTION_CACHE, .offset = offsetof(struct settings, name)
#define SERVICE(name) \
    .section = SETTINGS_SECTION_SERVICE, .offset = offsetof(struct settings_service, name)

/* Far above any sensible age, far below where adding one to a clock overflows. */
#define AGE .type = SETTINGS_TYPE_DURATION, .min = "0", .max = "8760h"

/* The longest path a unix socket's address can hold is 107 characters: sun_path less its
 * terminating zero. */
#define SOCKET_PATH .type = SETTINGS_TYPE_PATH, .max = "107"

const struct settings_row settings_rows[SETTINGS_ROWS] = {
    {DAEMON(workers), .key = "workers", .type = SETTINGS_TYPE_NUMBER, .standard = "0", .min = "0",
     .max = "1024", .restart = true, .help = "worker threads; 0: one per CPU"},
    {DAEMON(log_level), .key = "log-level", .type = SETTINGS_TYPE_CHOICE, .standard = "info",
     .words = log_levels, .help = "error, warning, info or debug"},
    {DAEMON(control), .key = "control", SOCKET_PATH, .standard = "/run/nfsaccel/control",
     .restart = true, .help = "unix socket for stat and flush"},
    {DAEMON(http), .key = "http", .type = SETTINGS_TYPE_ENDPOINT, .standard = "",
     .also = offsetof(struct settings, http_address),
     .help = "e.g. 127.0.0.1:9649: /metrics, /healthz and the status page; empty: off"},
    {DAEMON(rpcbind), .key = "rpcbind", .type = SETTINGS_TYPE_BOOL, .standard = "no",
     .help = "register MOUNT and NFS with the local rpcbind"},

    {CACHE(memory), .key = "memory", .type = SETTINGS_TYPE_SIZE, .standard = "1G", .min = "0",
     .max = "32G", .restart = true,
     .help = "a hard ceiling for all that is cached; 0: cache nothing, forward everything"},

    {SERVICE(listen), .key = "listen", .type = SETTINGS_TYPE_ADDRESSES, .standard = "0.0.0.0:2049",
     .max = "64", .also = offsetof(struct settings_service, listen_count),
     .help = "several: comma separated; IPv6 as [::]:2049. NFS, MOUNT and NFSACL on one port"},
    {SERVICE(server), .key = "server", .type = SETTINGS_TYPE_HOST, .standard = "nas.example.com",
     .required = true, .help = "the NFS server: a host name or an address"},
    {SERVICE(nfs_port), .key = "nfs-port", .type = SETTINGS_TYPE_PORT, .standard = "2049",
     .min = "0", .max = "65535", .help = "0: ask the server's rpcbind"},
    {SERVICE(mount_port), .key = "mount-port", .type = SETTINGS_TYPE_PORT, .standard = "0",
     .min = "0", .max = "65535", .help = "0: ask the server's rpcbind"},
    {SERVICE(source_ports), .key = "source-ports", .type = SETTINGS_TYPE_CHOICE, .standard = "auto",
     .words = port_choices, .help = "auto: reserved (below 1024) where permitted; reserved; any"},
    {SERVICE(connections), .key = "connections", .type = SETTINGS_TYPE_NUMBER, .standard = "2",
     .min = "1", .max = "64", .help = "upstream connections per worker"},
    {SERVICE(coherence), .key = "coherence", .type = SETTINGS_TYPE_CHOICE, .standard = "shared",
     .words = coherences,
     .help = "shared: others write to the server too; exclusive: all writers come through here"},
    {SERVICE(age_min), .key = "age-min", AGE, .standard = "3s",
     .help = "shared: attributes and names are served for at least this long"},
    {SERVICE(age_max), .key = "age-max", AGE, .standard = "60s",
     .help = "shared: and for at most this long"},
    {SERVICE(negative_age), .key = "negative-age", AGE, .standard = "30s",
     .help = "shared: NOENT is served for at most this long"},
    {SERVICE(access_age), .key = "access-age", AGE, .standard = "60s",
     .help = "verdicts are served for at most this long, in both modes"},
    {SERVICE(settle), .key = "settle", AGE, .standard = "10s",
     .help = "an object changed less than this ago is served for at most one second"},
    {SERVICE(doubt), .key = "doubt", AGE, .standard = "60s",
     .help = "after a start or a reconnect to the server, ages are those of shared for this long"},
    {SERVICE(verify), .key = "verify", .type = SETTINGS_TYPE_SHARE, .standard = "0", .min = "0",
     .max = "1", .help = "share of hits (0 to 1) that are also asked of the server and compared"},
    {SERVICE(allow), .key = "allow", .type = SETTINGS_TYPE_PREFIXES, .standard = "0.0.0.0/0, ::/0",
     .max = "4096", .also = offsetof(struct settings_service, allow_count),
     .help = "client addresses that may connect"},
    {SERVICE(read_only), .key = "read-only", .type = SETTINGS_TYPE_BOOL, .standard = "no",
     .help = "yes: mutating calls get NFS3ERR_ROFS"},
    {SERVICE(squash), .key = "squash", .type = SETTINGS_TYPE_CHOICE, .standard = "none",
     .words = squashes,
     .help = "whose calls become those of anonuid and anongid: none, root or all"},
    {SERVICE(anonuid), .key = "anonuid", .type = SETTINGS_TYPE_ID, .standard = "65534", .min = "0",
     .max = "4294967295", .help = "the user that squash makes of others"},
    {SERVICE(anongid), .key = "anongid", .type = SETTINGS_TYPE_ID, .standard = "65534", .min = "0",
     .max = "4294967295", .help = "the group that squash makes of others"},
};

static const struct {
    const char *name, *heading;
} sections[SETTINGS_SECTIONS] = {
    [SETTINGS_SECTION_DAEMON] = {"daemon", "[daemon]"},
    [SETTINGS_SECTION_CACHE] = {"cache", "[cache]"},
    [SETTINGS_SECTION_SERVICE] = {"service", "[service NAME]"},
};

const char *settings_section_name(enum settings_section section)
{
    return sections[section].name;
}

const char *settings_section_heading(enum settings_section section)
{
    return sections[section].heading;
}

int settings_section_find(const char *name, enum settings_section *section)
{
    for (unsigned i = 0; i < SETTINGS_SECTIONS; i++) {
        if (strcmp(sections[i].name, name) == 0) {
            *section = (enum settings_section)i;
            return 0;
        }
    }
    return -ENOENT;
}

const struct settings_row *settings_row_find(enum settings_section section, const char *key)
{
    for (unsigned i = 0; i < SETTINGS_ROWS; i++)
        if (settings_rows[i].section == section && strcmp(settings_rows[i].key, key) == 0)
            return &settings_rows[i];
    return NULL;
}

#define NAME_MAX_COMPARED 24u

/* The Levenshtein distance of two short names; a large one if either is too long to be a
 * misspelling. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[NAME_MAX_COMPARED + 1];
    size_t a_len = strlen(a), b_len = strlen(b);

    if (a_len > NAME_MAX_COMPARED || b_len > NAME_MAX_COMPARED)
        return NAME_MAX_COMPARED;
    for (unsigned j = 0; j <= b_len; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a_len; i++) {
        unsigned diagonal = row[0];

        row[0] = i;
        for (unsigned j = 1; j <= b_len; j++) {
            unsigned best = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[b_len];
}

/* Keeps the closer one of `best` and `candidate`. Two slips are a misspelling, and one in a short
 * name. */
static void consider(const char *name, const char *candidate, const char **best,
                     unsigned *best_distance)
{
    unsigned d = distance(name, candidate);
    unsigned limit = strlen(candidate) < 6 ? 1 : 2;

    if (d <= limit && d < *best_distance) {
        *best = candidate;
        *best_distance = d;
    }
}

const char *settings_nearest_key(enum settings_section section, const char *key)
{
    const char *best = NULL;
    unsigned best_distance = NAME_MAX_COMPARED;

    for (unsigned i = 0; i < SETTINGS_ROWS; i++)
        if (settings_rows[i].section == section)
            consider(key, settings_rows[i].key, &best, &best_distance);
    return best;
}

const char *settings_nearest_section(const char *name)
{
    const char *best = NULL;
    unsigned best_distance = NAME_MAX_COMPARED;

    for (unsigned i = 0; i < SETTINGS_SECTIONS; i++)
        consider(name, sections[i].name, &best, &best_distance);
    return best;
}
