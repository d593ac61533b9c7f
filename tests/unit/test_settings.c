/* The values that a good configuration gives: every key, the defaults, the layout of the file,
 * reload, printing. */
#include "settings_fixture.h"
#include "config/settings_table.h"
#include "config/settings_value.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>

#define SECOND UINT64_C(1000000000)

static void assert_address(const struct settings_address *address, const char *expected)
{
    char text[64];

    settings_address_text(address, text, sizeof(text));
    assert_string_equal(text, expected);
}

static void assert_service_defaults(const struct settings_service *service)
{
    assert_int_equal(service->listen_count, 1);
    assert_address(&service->listen[0], "0.0.0.0:2049");
    assert_int_equal(service->nfs_port, 2049);
    assert_int_equal(service->mount_port, 0);
    assert_int_equal(service->source_ports, SETTINGS_PORTS_AUTO);
    assert_int_equal(service->connections, 2);
    assert_int_equal(service->coherence, SETTINGS_SHARED);
    assert_int_equal(service->age_min, 3 * SECOND);
    assert_int_equal(service->age_max, 60 * SECOND);
    assert_int_equal(service->negative_age, 30 * SECOND);
    assert_int_equal(service->access_age, 60 * SECOND);
    assert_int_equal(service->settle, 10 * SECOND);
    assert_int_equal(service->doubt, 60 * SECOND);
    assert_true(service->verify == 0.0);
    assert_int_equal(service->allow_count, 2);
    assert_int_equal(service->allow[0].family, AF_INET);
    assert_int_equal(service->allow[0].bits, 0);
    assert_int_equal(service->allow[1].family, AF_INET6);
    assert_int_equal(service->allow[1].bits, 0);
    assert_false(service->read_only);
    assert_int_equal(service->squash, SETTINGS_SQUASH_NONE);
    assert_int_equal(service->anonuid, 65534);
    assert_int_equal(service->anongid, 65534);
}

/* The values of the design's section 6, each by hand: what operators' files and scripts rely on. */
static void assert_defaults(const struct settings *settings)
{
    assert_int_equal(settings->workers, 0);
    assert_int_equal(settings->log_level, SETTINGS_LOG_INFO);
    assert_string_equal(settings->control, "/run/nfsaccel/control");
    assert_null(settings->http);
    assert_int_equal(settings->http_address.len, 0);
    assert_false(settings->rpcbind);
    assert_int_equal(settings->memory, UINT64_C(1) << 30);
    assert_int_equal(settings->service_count, 1);
    assert_service_defaults(&settings->services[0]);
}

/* A key that isn't given has its documented value. */
static void defaults_hold_without_keys(void **state)
{
    struct settings *settings = fixture_parse(MINIMAL);

    (void)state;
    assert_string_equal(settings->services[0].name, "home");
    assert_string_equal(settings->services[0].server, "nas");
    assert_defaults(settings);
    settings_free(settings);
}

/* The file that the documentation shows: comments behind values, an empty http, the sections'
 * order. */
static void documented_file_parses_to_the_defaults(void **state)
{
    struct settings *settings = fixture_parse(
        "[daemon]\n"
        "workers   = 0                       # 0: one per CPU\n"
        "log-level = info                    # error warning info debug\n"
        "control   = /run/nfsaccel/control   # unix socket for stat and flush\n"
        "http      =                         # e.g. 127.0.0.1:9649: /metrics, /healthz and the status page; "
        "empty: off\n"
        "rpcbind   = no                      # register MOUNT and NFS with the local rpcbind\n"
        "\n"
        "[cache]\n"
        "memory = 1G                         # a hard ceiling for all that is cached; 0: cache nothing, forward "
        "everything\n"
        "\n"
        "[service home]                      # one listener in front of one server; any number of services\n"
        "listen        = 0.0.0.0:2049        # several: comma separated; IPv6 as [::]:2049. NFS, MOUNT and NFSACL on "
        "one port\n"
        "server        = nas.example.com\n"
        "nfs-port      = 2049                # 0: ask the server's rpcbind\n"
        "mount-port    = 0                   # 0: ask the server's rpcbind\n"
        "source-ports  = auto                # auto: reserved (below 1024) where permitted; reserved; any\n"
        "connections   = 2                   # upstream connections per worker\n"
        "coherence     = shared              # shared: others write to the server too; exclusive: all writers come "
        "through here\n"
        "age-min       = 3s                  # shared: attributes and names are served for at least, at most\n"
        "age-max       = 60s\n"
        "negative-age  = 30s                 # shared: NOENT is served for at most\n"
        "access-age    = 60s                 # verdicts, in both modes\n"
        "verify        = 0                   # share of hits (0 to 1) that are also asked of the server and compared\n"
        "allow         = 0.0.0.0/0, ::/0     # client addresses that may connect\n"
        "read-only     = no                  # yes: mutating calls get NFS3ERR_ROFS\n"
        "squash        = none                # none, root, all\n"
        "anonuid       = 65534\n"
        "anongid       = 65534\n");

    (void)state;
    assert_string_equal(settings->services[0].name, "home");
    assert_string_equal(settings->services[0].server, "nas.example.com");
    assert_defaults(settings);
    settings_free(settings);
}

/* Each key reaches its own member; all values differ from the defaults and from each other where
 * they can. */
static void every_key_is_read(void **state)
{
    struct settings *settings =
        fixture_parse("[daemon]\nworkers = 7\nlog-level = debug\ncontrol = /c\n"
                      "http = 127.0.0.1:9649\nrpcbind = yes\n"
                      "[cache]\nmemory = 300M\n"
                      "[service a.B-c_9]\nlisten = 127.0.0.1:3001, [::1]:3002\n"
                      "server = 192.0.2.1\nnfs-port = 3003\nmount-port = 3004\n"
                      "source-ports = reserved\nconnections = 5\ncoherence = exclusive\n"
                      "age-min = 1s\nage-max = 2s\nnegative-age = 3s\naccess-age = 4s\n"
                      "settle = 5s\ndoubt = 6s\nverify = 0.25\nallow = 10.0.0.0/8, fd00::/8\n"
                      "read-only = yes\nsquash = root\nanonuid = 11\nanongid = 12\n");
    const struct settings_service *service = &settings->services[0];

    (void)state;
    assert_int_equal(settings->workers, 7);
    assert_int_equal(settings->log_level, SETTINGS_LOG_DEBUG);
    assert_string_equal(settings->control, "/c");
    assert_string_equal(settings->http, "127.0.0.1:9649");
    assert_address(&settings->http_address, "127.0.0.1:9649");
    assert_true(settings->rpcbind);
    assert_int_equal(settings->memory, UINT64_C(300) << 20);
    assert_string_equal(service->name, "a.B-c_9");
    assert_int_equal(service->listen_count, 2);
    assert_address(&service->listen[0], "127.0.0.1:3001");
    assert_address(&service->listen[1], "[::1]:3002");
    assert_string_equal(service->server, "192.0.2.1");
    assert_int_equal(service->nfs_port, 3003);
    assert_int_equal(service->mount_port, 3004);
    assert_int_equal(service->source_ports, SETTINGS_PORTS_RESERVED);
    assert_int_equal(service->connections, 5);
    assert_int_equal(service->coherence, SETTINGS_EXCLUSIVE);
    assert_int_equal(service->age_min, 1 * SECOND);
    assert_int_equal(service->age_max, 2 * SECOND);
    assert_int_equal(service->negative_age, 3 * SECOND);
    assert_int_equal(service->access_age, 4 * SECOND);
    assert_int_equal(service->settle, 5 * SECOND);
    assert_int_equal(service->doubt, 6 * SECOND);
    assert_true(service->verify == 0.25);
    assert_int_equal(service->allow_count, 2);
    assert_int_equal(service->allow[0].family, AF_INET);
    assert_int_equal(service->allow[0].bits, 8);
    assert_int_equal(service->allow[0].addr[0], 10);
    assert_int_equal(service->allow[1].family, AF_INET6);
    assert_int_equal(service->allow[1].bits, 8);
    assert_int_equal(service->allow[1].addr[0], 0xfd);
    assert_true(service->read_only);
    assert_int_equal(service->squash, SETTINGS_SQUASH_ROOT);
    assert_int_equal(service->anonuid, 11);
    assert_int_equal(service->anongid, 12);
    settings_free(settings);
}

/* Every word of every choice is the enum's value of that name. */
static void choices_map_to_their_values(void **state)
{
    static const struct {
        const char *text;
        unsigned log_level, source_ports, coherence, squash;
    } cases[] = {
        {"[daemon]\nlog-level=error\n" MINIMAL "source-ports=auto\ncoherence=shared\nsquash=none\n",
         SETTINGS_LOG_ERROR, SETTINGS_PORTS_AUTO, SETTINGS_SHARED, SETTINGS_SQUASH_NONE},
        {"[daemon]\nlog-level=warning\n" MINIMAL
         "source-ports=reserved\ncoherence=exclusive\nsquash=root\n",
         SETTINGS_LOG_WARNING, SETTINGS_PORTS_RESERVED, SETTINGS_EXCLUSIVE, SETTINGS_SQUASH_ROOT},
        {"[daemon]\nlog-level=INFO\n" MINIMAL "source-ports=any\ncoherence=Exclusive\nsquash=all\n",
         SETTINGS_LOG_INFO, SETTINGS_PORTS_ANY, SETTINGS_EXCLUSIVE, SETTINGS_SQUASH_ALL},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct settings *settings = fixture_parse(cases[i].text);

        assert_int_equal(settings->log_level, cases[i].log_level);
        assert_int_equal(settings->services[0].source_ports, cases[i].source_ports);
        assert_int_equal(settings->services[0].coherence, cases[i].coherence);
        assert_int_equal(settings->services[0].squash, cases[i].squash);
        settings_free(settings);
    }
}

/* Sets one row's member in a struct of its section and returns what it holds. */
static uint64_t number_of(enum settings_section section, const char *key, const char *text)
{
    const struct settings_row *row = settings_row_find(section, key);
    struct settings_cause cause = {""};
    union {
        struct settings settings;
        struct settings_service service;
    } base = {{0}};
    uint64_t value = 0;

    assert_non_null(row);
    assert_int_equal(settings_value_set(row, text, &base, &cause), 0);
    if (row->type == SETTINGS_TYPE_DURATION || row->type == SETTINGS_TYPE_SIZE) {
        memcpy(&value, (char *)&base + row->offset, sizeof(value));
    } else if (row->type == SETTINGS_TYPE_BOOL) {
        value = *((unsigned char *)&base + row->offset);
    } else {
        uint32_t narrow;

        memcpy(&narrow, (char *)&base + row->offset, sizeof(narrow));
        value = narrow;
    }
    return value;
}

/* Units and both ends of every range. */
static void numbers_have_units_and_limits(void **state)
{
    static const struct {
        enum settings_section section;
        const char *key, *text;
        uint64_t value;
    } cases[] = {
        {SETTINGS_SECTION_DAEMON, "workers", "0", 0},
        {SETTINGS_SECTION_DAEMON, "workers", "0007", 7},
        {SETTINGS_SECTION_DAEMON, "workers", "1024", 1024},
        {SETTINGS_SECTION_SERVICE, "connections", "1", 1},
        {SETTINGS_SECTION_SERVICE, "connections", "64", 64},
        {SETTINGS_SECTION_SERVICE, "nfs-port", "0", 0},
        {SETTINGS_SECTION_SERVICE, "nfs-port", "65535", 65535},
        {SETTINGS_SECTION_SERVICE, "mount-port", "65535", 65535},
        {SETTINGS_SECTION_SERVICE, "anonuid", "0", 0},
        {SETTINGS_SECTION_SERVICE, "anonuid", "4294967295", UINT32_MAX},
        {SETTINGS_SECTION_SERVICE, "anongid", "4294967294", UINT32_MAX - 1},
        {SETTINGS_SECTION_SERVICE, "age-max", "0", 0},
        {SETTINGS_SECTION_SERVICE, "age-max", "0ns", 0},
        {SETTINGS_SECTION_SERVICE, "age-max", "17ns", 17},
        {SETTINGS_SECTION_SERVICE, "age-max", "17us", 17000},
        {SETTINGS_SECTION_SERVICE, "age-max", "500ms", SECOND / 2},
        {SETTINGS_SECTION_SERVICE, "age-max", "2", 2 * SECOND},
        {SETTINGS_SECTION_SERVICE, "age-max", "2s", 2 * SECOND},
        {SETTINGS_SECTION_SERVICE, "age-max", "2m", 120 * SECOND},
        {SETTINGS_SECTION_SERVICE, "age-max", "2h", 7200 * SECOND},
        {SETTINGS_SECTION_SERVICE, "age-max", "8760h", 31536000 * SECOND},
        {SETTINGS_SECTION_CACHE, "memory", "0", 0},
        {SETTINGS_SECTION_CACHE, "memory", "12345", 12345},
        {SETTINGS_SECTION_CACHE, "memory", "3K", 3072},
        {SETTINGS_SECTION_CACHE, "memory", "3M", UINT64_C(3) << 20},
        {SETTINGS_SECTION_CACHE, "memory", "3G", UINT64_C(3) << 30},
        {SETTINGS_SECTION_CACHE, "memory", "32G", UINT64_C(1) << 35},
        {SETTINGS_SECTION_DAEMON, "rpcbind", "yes", 1},
        {SETTINGS_SECTION_DAEMON, "rpcbind", "True", 1},
        {SETTINGS_SECTION_DAEMON, "rpcbind", "on", 1},
        {SETTINGS_SECTION_DAEMON, "rpcbind", "NO", 0},
        {SETTINGS_SECTION_DAEMON, "rpcbind", "false", 0},
        {SETTINGS_SECTION_DAEMON, "rpcbind", "off", 0},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(number_of(cases[i].section, cases[i].key, cases[i].text), cases[i].value);
}

/* Shares are exact decimals, whatever the locale's point is. */
static void shares_are_decimals(void **state)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"0", 0},       {"0.0", 0},
                 {"1", 1},       {"1.000", 1},
                 {"0.01", 0.01}, {"0.3", 0.3},
                 {"00.5", 0.5},  {"0.000000001", 1e-9},
                 {"0.5", 0.5},   {"0.999999999", 0.999999999}};
    const struct settings_row *row = settings_row_find(SETTINGS_SECTION_SERVICE, "verify");
    struct settings_service service = {0};
    struct settings_cause cause = {""};

    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        service.verify = 7;
        assert_int_equal(settings_value_set(row, cases[i].text, &service, &cause), 0);
        assert_true(service.verify == cases[i].value);
    }
}

/* How files look in practice: any order of sections, CRLF, indents, a byte order mark, no newline
 * at the end. */
static void layout_is_free(void **state)
{
    static const char *const texts[] = {
        "[service home]\nserver=nas\n[cache]\nmemory=5K\n[daemon]\nworkers=3\n",
        "\xef\xbb\xbf[daemon]\r\nworkers = 3\r\n[cache]\r\nmemory = 5K\r\n[service home]\r\nserver = nas\r\n",
        "# c\n; c\n\n  [daemon]  ; c\n\tworkers\t=\t3 ;c\n[cache]\n memory = 5K\t# c # d\n[service  home]\n  server = nas",
        "[ service home ]\nserver = \\\nnas\n[cache]\nmemory=5K\n[daemon]\nworkers= \\ # c\n   3 # c\n",
        ("[service\thome]\nserver: nas\n[daemon]\n[cache]\nmemory=5K\n"
         "[service b]\nlisten=[::]:1\nserver=b\n[service c]\nlisten=[::]:2\nserver=b"),
    };
    static const unsigned workers[] = {3, 3, 3, 3, 0}, services[] = {1, 1, 1, 1, 3};

    (void)state;
    for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct settings *settings = fixture_parse(texts[i]);

        assert_int_equal(settings->workers, workers[i]);
        assert_int_equal(settings->memory, 5120);
        assert_int_equal(settings->service_count, services[i]);
        assert_string_equal(settings->services[0].name, "home");
        assert_string_equal(settings->services[0].server, "nas");
        settings_free(settings);
    }
}

/* '#' and ';' within a word are part of the value. */
static void comments_need_a_space(void **state)
{
    struct settings *settings = fixture_parse("[daemon]\ncontrol = /run/a#b;c\n" MINIMAL);

    (void)state;
    assert_string_equal(settings->control, "/run/a#b;c");
    settings_free(settings);
}

/* A list that is longer than a line of inih's is whole when it is continued. */
static void long_lists_are_continued(void **state)
{
    char text[8192] = MINIMAL "allow = 10.0.0.0/16, \\\n";
    size_t used = strlen(text);
    struct settings *settings;

    (void)state;
    for (unsigned i = 1; i < 200; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "   10.%u.0.0/16%s\n", i,
                                 i < 199 ? ", \\" : "");
    settings = fixture_parse(text);
    assert_int_equal(settings->services[0].allow_count, 200);
    for (unsigned i = 0; i < 200; i++) {
        assert_int_equal(settings->services[0].allow[i].addr[1], i);
        assert_int_equal(settings->services[0].allow[i].bits, 16);
    }
    settings_free(settings);
}

/* The longest line that fits, to the character; its comment doesn't count. */
static void longest_line_is_whole(void **state)
{
    char text[1024];
    char path[108] = "/";
    struct settings *settings;

    (void)state;
    memset(path + 1, 'p', 106);
    (void)snprintf(text, sizeof(text), "[daemon]\ncontrol%*s = %s # %0400d\n" MINIMAL, 80, "", path,
                   0);
    settings = fixture_parse(text);
    assert_string_equal(settings->control, path);
    settings_free(settings);
}

/* A service's name of the full length, which inih alone would cut. */
static void longest_service_name_is_whole(void **state)
{
    static const char name[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    char text[256];
    struct settings *settings;

    (void)state;
    assert_int_equal(strlen(name), SETTINGS_NAME_MAX);
    (void)snprintf(text, sizeof(text), "[service %s]\nserver = nas\n", name);
    settings = fixture_parse(text);
    assert_string_equal(settings->services[0].name, name);
    settings_free(settings);
}

/* As many services as there may be, and not one more. */
static void services_are_bounded(void **state)
{
    static char text[SETTINGS_SERVICES_MAX * 64 + 64];
    size_t used = 0;
    struct settings *settings;

    (void)state;
    for (unsigned i = 0; i < SETTINGS_SERVICES_MAX; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 "[service s%u]\nserver = nas\nlisten = [::]:%u\n", i, i + 1);
    settings = fixture_parse(text);
    assert_int_equal(settings->service_count, SETTINGS_SERVICES_MAX);
    assert_string_equal(settings->services[SETTINGS_SERVICES_MAX - 1].name, "s255");
    settings_free(settings);
    (void)snprintf(text + used, sizeof(text) - used, "[service more]\n");
    fixture_fails(text, "f:769: [service more]: more than 256 services");
}

/* Only what the table marks asks for a restart, whatever else changes. */
static void restart_is_asked_for_by_the_right_keys(void **state)
{
    static const struct {
        const char *text, *key;
    } cases[] = {
        {MINIMAL, NULL},
        {"[daemon]\nworkers = 1\n" MINIMAL, "workers"},
        {"[daemon]\ncontrol = /c\n" MINIMAL, "control"},
        {"[cache]\nmemory = 1023M\n" MINIMAL, "memory"},
        {"[cache]\nmemory = 1024M\n" MINIMAL, NULL},
        {"[cache]\nmemory = 1\n[daemon]\nworkers = 1\n" MINIMAL, "workers"},
        {"[daemon]\nlog-level = debug\nhttp = 127.0.0.1:1\nrpcbind = yes\n[service other]\nserver = x\n"
         "listen = [::1]:5\nallow = ::1\nverify = 1\n",
         NULL},
    };
    struct settings *running = fixture_parse(MINIMAL);

    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct settings *next = fixture_parse(cases[i].text);
        const char *key = settings_needs_restart(running, next);

        assert_string_equal(key ? key : "", cases[i].key ? cases[i].key : "");
        settings_free(next);
    }
    settings_free(running);
}

/* Comparing values of every type sees each difference and no other; a reload's decisions rest on
 * it. */
static void values_compare(void **state)
{
    static const char *const changes[SETTINGS_ROWS] = {"workers=1",
                                                       "log-level=debug",
                                                       "control=/x",
                                                       "http=127.0.0.1:1",
                                                       "rpcbind=yes",
                                                       "memory=2G",
                                                       "listen=[::1]:9",
                                                       "server=other",
                                                       "nfs-port=1",
                                                       "mount-port=1",
                                                       "source-ports=any",
                                                       "connections=3",
                                                       "coherence=exclusive",
                                                       "age-min=4s",
                                                       "age-max=61s",
                                                       "negative-age=1s",
                                                       "access-age=1s",
                                                       "settle=1s",
                                                       "doubt=1s",
                                                       "verify=0.5",
                                                       "allow=0.0.0.0/0, ::/1",
                                                       "read-only=yes",
                                                       "squash=all",
                                                       "anonuid=1",
                                                       "anongid=1"};
    struct settings *standard = fixture_parse("[service home]\nserver = nas.example.com\n");

    (void)state;
    for (unsigned i = 0; i < SETTINGS_ROWS; i++) {
        char text[256];
        struct settings *changed;
        bool in_service = settings_rows[i].section == SETTINGS_SECTION_SERVICE;

        (void)snprintf(text, sizeof(text), "[%s%s]\n%s\n%s%s",
                       settings_section_name(settings_rows[i].section), in_service ? " home" : "",
                       changes[i], in_service ? "" : "[service home]\n",
                       settings_rows[i].required ? "" : "server = nas.example.com\n");
        changed = fixture_parse(text);
        for (unsigned j = 0; j < SETTINGS_ROWS; j++) {
            bool service = settings_rows[j].section == SETTINGS_SECTION_SERVICE;
            const void *a = service ? (const void *)standard->services : standard;
            const void *b = service ? (const void *)changed->services : changed;

            if (settings_value_equal(&settings_rows[j], a, b) != (i != j))
                fail_msg("%s and %s", changes[i], settings_rows[j].key);
        }
        settings_free(changed);
    }
    settings_free(standard);
}

/* A list that only goes on where the other one ends differs from it, in both directions. */
static void lists_of_other_lengths_differ(void **state)
{
    struct settings *two = fixture_parse(MINIMAL);
    struct settings *three = fixture_parse(MINIMAL "allow = 0.0.0.0/0, ::/0, ::1\n");
    const struct settings_row *allow = settings_row_find(SETTINGS_SECTION_SERVICE, "allow");

    (void)state;
    assert_false(settings_value_equal(allow, two->services, three->services));
    assert_false(settings_value_equal(allow, three->services, two->services));
    settings_free(two);
    settings_free(three);
}

/* What a print function prints. The caller frees it. */
static char *printed(void (*print)(FILE *out))
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    assert_non_null(out);
    print(out);
    assert_int_equal(fclose(out), 0);
    assert_non_null(text);
    return text;
}

/* The committed example is what the table says, and gives the defaults: it can't fall behind. */
static void example_file_is_the_table(void **state)
{
    static char file[65536];
    char *text = printed(settings_print_example);
    FILE *stream = fopen(SETTINGS_EXAMPLE, "r");
    struct settings_error error = {""};
    struct settings *settings;

    (void)state;
    assert_non_null(stream);
    assert_true(fread(file, 1, sizeof(file) - 1, stream) > 0);
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(file, text);
    free(text);
    settings = settings_load(SETTINGS_EXAMPLE, &error);
    assert_string_equal(error.text, "");
    assert_non_null(settings);
    assert_string_equal(settings->services[0].name, "home");
    assert_string_equal(settings->services[0].server, "nas.example.com");
    assert_defaults(settings);
    settings_free(settings);
}

/* The example names every key once, and only keys: a forgotten one would show here. */
static void example_and_reference_have_every_key(void **state)
{
    char *example = printed(settings_print_example), *reference = printed(settings_print_reference);
    char line[64];

    (void)state;
    for (unsigned i = 0; i < SETTINGS_ROWS; i++) {
        (void)snprintf(line, sizeof(line), "\n%-13s = %s", settings_rows[i].key,
                       settings_rows[i].standard);
        assert_non_null(strstr(example, line));
        (void)snprintf(line, sizeof(line), "\n| `%s` | ", settings_rows[i].key);
        assert_non_null(strstr(reference, line));
    }
    assert_non_null(strstr(
        reference, "\n| `workers` | `0` | a whole number, 0 to 1024 | worker threads; 0: one per "
                   "CPU | restart |\n"));
    assert_non_null(strstr(
        reference, "\n| `server` | (required) | a host name or address | the NFS server: a host "
                   "name or an address | live |\n"));
    assert_non_null(strstr(reference, "\n| `squash` | `none` | `none`, `root`, `all` | "));
    free(example);
    free(reference);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_hold_without_keys),
        cmocka_unit_test(documented_file_parses_to_the_defaults),
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(choices_map_to_their_values),
        cmocka_unit_test(numbers_have_units_and_limits),
        cmocka_unit_test(shares_are_decimals),
        cmocka_unit_test(layout_is_free),
        cmocka_unit_test(comments_need_a_space),
        cmocka_unit_test(long_lists_are_continued),
        cmocka_unit_test(longest_line_is_whole),
        cmocka_unit_test(longest_service_name_is_whole),
        cmocka_unit_test(services_are_bounded),
        cmocka_unit_test(restart_is_asked_for_by_the_right_keys),
        cmocka_unit_test(values_compare),
        cmocka_unit_test(lists_of_other_lengths_differ),
        cmocka_unit_test(example_file_is_the_table),
        cmocka_unit_test(example_and_reference_have_every_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
