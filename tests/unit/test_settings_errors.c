/*
 * The one error that a bad configuration gives, by its exact text: it is all that an operator sees,
 * at --check and in the log of a reload.
 */
#include "settings_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct error_case {
    const char *text, *error;
};

static void assert_errors(const struct error_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fixture_fails(cases[i].text, cases[i].error);
}

#define ASSERT_ERRORS(cases) assert_errors(cases, sizeof(cases) / sizeof((cases)[0]))

/* Each key of [daemon] and [cache] refuses what isn't of its type or range. */
static void daemon_and_cache_values(void **state)
{
    static const struct error_case cases[] = {
        {"[daemon]\nworkers = many\n", "f:2: workers: 'many' is not a whole number"},
        {"[daemon]\nworkers = -1\n", "f:2: workers: '-1' is not a whole number"},
        {"[daemon]\nworkers = 4x\n", "f:2: workers: '4x' is not a whole number"},
        {"[daemon]\nworkers = 4 5\n", "f:2: workers: '4 5' is not a whole number"},
        {"[daemon]\nworkers = 0x4\n", "f:2: workers: '0x4' is not a whole number"},
        {"[daemon]\nworkers = 1.5\n", "f:2: workers: '1.5' is not a whole number"},
        {"[daemon]\nworkers = 1025\n", "f:2: workers: '1025' is out of range: 0 to 1024"},
        {"[daemon]\nworkers = 4294967296\n",
         "f:2: workers: '4294967296' is out of range: 0 to 1024"},
        {"[daemon]\nworkers = 18446744073709551616\n",
         "f:2: workers: '18446744073709551616' is out of range: 0 to 1024"},
        {"[daemon]\nworkers =\n", "f:2: workers: has no value; without the key it is 0"},
        {"[daemon]\nlog-level = loud\n",
         "f:2: log-level: 'loud' is not one of error, warning, info, debug"},
        {"[daemon]\nlog-level = info,\n",
         "f:2: log-level: 'info,' is not one of error, warning, info, debug"},
        {"[daemon]\nlog-level = # x\n", "f:2: log-level: has no value; without the key it is info"},
        {"[daemon]\ncontrol = run/c\n", "f:2: control: 'run/c' is not an absolute path"},
        {"[daemon]\ncontrol =\n",
         "f:2: control: has no value; without the key it is /run/nfsaccel/control"},
        {"[daemon]\ncontrol = /23456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
         "123456789012345678\n",
         "f:2: control: longer than 107 characters"},
        {"[daemon]\nhttp = 9649\n",
         "f:2: http: '9649' has no port (such as 127.0.0.1:2049 or [::1]:2049)"},
        {"[daemon]\nhttp = localhost:9649\n",
         "f:2: http: 'localhost:9649' is not a numeric address and port (such as "
         "127.0.0.1:2049 or [::1]:2049)"},
        {"[daemon]\nhttp = 127.0.0.1:0\n", "f:2: http: '127.0.0.1:0': the port must be 1 to 65535"},
        {"[daemon]\nhttp = 127.0.0.1:1, [::1]:1\n",
         "f:2: http: '127.0.0.1:1, [::1]:1' is not a numeric address and port (such as 127.0.0.1:2049 or [::1]:2049)"},
        {"[daemon]\nrpcbind = maybe\n", "f:2: rpcbind: 'maybe' is not yes or no"},
        {"[daemon]\nrpcbind = 1\n", "f:2: rpcbind: '1' is not yes or no"},
        {"[daemon]\nrpcbind =\n", "f:2: rpcbind: has no value; without the key it is no"},
        {"[cache]\nmemory = lots\n", "f:2: memory: 'lots' is not a size (such as 512M, 1G)"},
        {"[cache]\nmemory = 1 G\n", "f:2: memory: '1 G' is not a size (such as 512M, 1G)"},
        {"[cache]\nmemory = 1GB\n", "f:2: memory: '1GB' is not a size (such as 512M, 1G)"},
        {"[cache]\nmemory = G\n", "f:2: memory: 'G' is not a size (such as 512M, 1G)"},
        {"[cache]\nmemory = -1G\n", "f:2: memory: '-1G' is not a size (such as 512M, 1G)"},
        {"[cache]\nmemory = 33G\n", "f:2: memory: '33G' is out of range: 0 to 32G"},
        {"[cache]\nmemory = 16777216T\n", "f:2: memory: '16777216T' is out of range: 0 to 32G"},
        {"[cache]\nmemory =\n", "f:2: memory: has no value; without the key it is 1G"},
    };

    (void)state;
    ASSERT_ERRORS(cases);
}

/* And each key of a service. */
static void service_values(void **state)
{
    static const struct error_case cases[] = {
        {"[service a]\nserver =\n", "f:2: server: has no value"},
        {"[service a]\nserver = na s\n", "f:2: server: 'na s' is not a host name or address"},
        {"[service a]\nserver = 10.0.0\n", "f:2: server: '10.0.0' is not a host name or address"},
        {"[service a]\nserver = nas:2049\n",
         "f:2: server: 'nas:2049' is not a host name or address; its port is set with nfs-port"},
        {"[service a]\nnfs-port = nfs\n", "f:2: nfs-port: 'nfs' is not a port number"},
        {"[service a]\nnfs-port = 65536\n", "f:2: nfs-port: '65536' is out of range: 0 to 65535"},
        {"[service a]\nmount-port = -1\n", "f:2: mount-port: '-1' is not a port number"},
        {"[service a]\nmount-port = 65536\n",
         "f:2: mount-port: '65536' is out of range: 0 to 65535"},
        {"[service a]\nsource-ports = low\n",
         "f:2: source-ports: 'low' is not one of auto, reserved, any"},
        {"[service a]\nconnections = 0\n", "f:2: connections: '0' is out of range: 1 to 64"},
        {"[service a]\nconnections = 65\n", "f:2: connections: '65' is out of range: 1 to 64"},
        {"[service a]\nconnections = two\n", "f:2: connections: 'two' is not a whole number"},
        {"[service a]\ncoherence = strict\n",
         "f:2: coherence: 'strict' is not one of shared, exclusive"},
        {"[service a]\nage-min = soon\n",
         "f:2: age-min: 'soon' is not a duration (such as 500ms, 3s, 1m)"},
        {"[service a]\nage-max = 1d\n",
         "f:2: age-max: '1d' is not a duration (such as 500ms, 3s, 1m)"},
        {"[service a]\nage-max = 8761h\n", "f:2: age-max: '8761h' is out of range: 0 to 8760h"},
        {"[service a]\nage-max = 5124096h\n",
         "f:2: age-max: '5124096h' is out of range: 0 to 8760h"},
        {"[service a]\nnegative-age = -3s\n",
         "f:2: negative-age: '-3s' is not a duration (such as 500ms, 3s, 1m)"},
        {"[service a]\nnegative-age = 31536001\n",
         "f:2: negative-age: '31536001' is out of range: 0 to 8760h"},
        {"[service a]\naccess-age = 1.5s\n",
         "f:2: access-age: '1.5s' is not a duration (such as 500ms, 3s, 1m)"},
        {"[service a]\naccess-age = 525601m\n",
         "f:2: access-age: '525601m' is out of range: 0 to 8760h"},
        {"[service a]\nsettle = s\n", "f:2: settle: 's' is not a duration (such as 500ms, 3s, 1m)"},
        {"[service a]\nsettle = 9000h\n", "f:2: settle: '9000h' is out of range: 0 to 8760h"},
        {"[service a]\ndoubt = 1m30s\n",
         "f:2: doubt: '1m30s' is not a duration (such as 500ms, 3s, 1m)"},
        {"[service a]\ndoubt = 9000h\n", "f:2: doubt: '9000h' is out of range: 0 to 8760h"},
        {"[service a]\nverify = 1.01\n", "f:2: verify: '1.01' is out of range: 0 to 1"},
        {"[service a]\nverify = 18446744073709551617\n",
         "f:2: verify: '18446744073709551617' is out of range: 0 to 1"},
        {"[service a]\nverify = 99999999999.000000000\n",
         "f:2: verify: '99999999999.000000000' is out of range: 0 to 1"},
        {"[service a]\nverify = 5%\n", "f:2: verify: '5%' is not a share (such as 0, 0.01, 1)"},
        {"[service a]\nverify = -0\n", "f:2: verify: '-0' is not a share (such as 0, 0.01, 1)"},
        {"[service a]\nverify = nan\n", "f:2: verify: 'nan' is not a share (such as 0, 0.01, 1)"},
        {"[service a]\nverify = 1e-3\n", "f:2: verify: '1e-3' is not a share (such as 0, 0.01, 1)"},
        {"[service a]\nverify = .5\n", "f:2: verify: '.5' is not a share (such as 0, 0.01, 1)"},
        {"[service a]\nverify = 1.\n", "f:2: verify: '1.' is not a share (such as 0, 0.01, 1)"},
        {"[service a]\nverify = 0,5\n", "f:2: verify: '0,5' is not a share (such as 0, 0.01, 1)"},
        {"[service a]\nverify = 0.0000000001\n", "f:2: verify: more than 9 decimals"},
        {"[service a]\nread-only = ro\n", "f:2: read-only: 'ro' is not yes or no"},
        {"[service a]\nsquash = user\n", "f:2: squash: 'user' is not one of none, root, all"},
        {"[service a]\nanonuid = nobody\n", "f:2: anonuid: 'nobody' is not a numeric id"},
        {"[service a]\nanonuid = -2\n", "f:2: anonuid: '-2' is not a numeric id"},
        {"[service a]\nanonuid = 4294967296\n",
         "f:2: anonuid: '4294967296' is out of range: 0 to 4294967295"},
        {"[service a]\nanongid = nogroup\n", "f:2: anongid: 'nogroup' is not a numeric id"},
        {"[service a]\nanongid = 4294967296\n",
         "f:2: anongid: '4294967296' is out of range: 0 to 4294967295"},
    };

    (void)state;
    ASSERT_ERRORS(cases);
}

/* Lists say which item is wrong and how it is meant to look. */
static void lists(void **state)
{
    static const struct error_case cases[] = {
        {"[service a]\nlisten =\n",
         "f:2: listen: has no value; without the key it is 0.0.0.0:2049"},
        {"[service a]\nlisten = 127.0.0.1\n",
         "f:2: listen: '127.0.0.1' has no port (such as 127.0.0.1:2049 or [::1]:2049)"},
        {"[service a]\nlisten = 127.0.0.1:\n",
         "f:2: listen: '127.0.0.1:' has no port (such as 127.0.0.1:2049 or [::1]:2049)"},
        {"[service a]\nlisten = [::]\n",
         "f:2: listen: '[::]' has no port (such as 127.0.0.1:2049 or [::1]:2049)"},
        {"[service a]\nlisten = :2049\n",
         "f:2: listen: ':2049' is not a numeric address and port (such as "
         "127.0.0.1:2049 or [::1]:2049)"},
        {"[service a]\nlisten = *:2049\n",
         "f:2: listen: '*:2049' is not a numeric address and port (such as "
         "127.0.0.1:2049 or [::1]:2049)"},
        {"[service a]\nlisten = [127.0.0.1]:2049\n",
         "f:2: listen: '[127.0.0.1]:2049' is not a numeric address and "
         "port (such as 127.0.0.1:2049 or [::1]:2049)"},
        {"[service a]\nlisten = [::1:2049\n",
         "f:2: listen: '[::1:2049' is not an address and port (such as 127.0.0.1:2049 or [::1]:2049)"},
        {"[service a]\nlisten = [::1]2049\n",
         "f:2: listen: '[::1]2049' is not an address and port (such as 127.0.0.1:2049 or [::1]:2049)"},
        {"[service a]\nlisten = ::1:2049\n",
         "f:2: listen: '::1:2049': an IPv6 address stands in brackets (such as [::1]:2049)"},
        {"[service a]\nlisten = 127.0.0.1:0\n",
         "f:2: listen: '127.0.0.1:0': the port must be 1 to 65535"},
        {"[service a]\nlisten = 127.0.0.1:65536\n",
         "f:2: listen: '127.0.0.1:65536': the port must be 1 to 65535"},
        {"[service a]\nlisten = 127.0.0.1:99999999999999999999\n",
         "f:2: listen: '127.0.0.1:99999999999999999999': the port must be 1 to 65535"},
        {"[service a]\nlisten = 127.0.0.1:-1\n",
         "f:2: listen: '127.0.0.1:-1': the port must be 1 to 65535"},
        {"[service a]\nlisten = 127.0.0.1:nfs\n",
         "f:2: listen: '127.0.0.1:nfs': the port must be 1 to 65535"},
        {"[service a]\nlisten = 127.0.0.1:1 127.0.0.2:1\n",
         "f:2: listen: '127.0.0.1:1 127.0.0.2:1' is not a numeric address and port (such as 127.0.0.1:2049 or [::1]:2049)"},
        {"[service a]\nlisten = 127.0.0.1:1,\n", "f:2: listen: item 2 of the list is empty"},
        {"[service a]\nlisten = ,127.0.0.1:1\n", "f:2: listen: item 1 of the list is empty"},
        {"[service a]\nlisten = 127.0.0.1:1, , 127.0.0.1:2\n",
         "f:2: listen: item 2 of the list is empty"},
        {"[service a]\nallow =\n",
         "f:2: allow: has no value; without the key it is 0.0.0.0/0, ::/0"},
        {"[service a]\nallow = 10.0.0.0/8, everybody\n",
         "f:2: allow: 'everybody' is not an address or network (such as 10.0.0.0/8 or fd00::/8)"},
        {"[service a]\nallow = 10.0.0/8\n",
         "f:2: allow: '10.0.0/8' is not an address or network (such as 10.0.0.0/8 or fd00::/8)"},
        {"[service a]\nallow = 10.0.0.0/255.0.0.0\n",
         "f:2: allow: '10.0.0.0/255.0.0.0': the prefix length must be 0 to 32"},
        {"[service a]\nallow = 10.0.0.0/33\n",
         "f:2: allow: '10.0.0.0/33': the prefix length must be 0 to 32"},
        {"[service a]\nallow = 10.0.0.0/\n",
         "f:2: allow: '10.0.0.0/': the prefix length must be 0 to 32"},
        {"[service a]\nallow = 10.0.0.0/-8\n",
         "f:2: allow: '10.0.0.0/-8': the prefix length must be 0 to 32"},
        {"[service a]\nallow = ::/129\n",
         "f:2: allow: '::/129': the prefix length must be 0 to 128"},
        {"[service a]\nallow = 10.0.0.1/8\n",
         "f:2: allow: '10.0.0.1/8' has bits beyond its prefix length; did you mean 10.0.0.0/8?"},
        {"[service a]\nallow = 192.168.7.0/22\n",
         "f:2: allow: '192.168.7.0/22' has bits beyond its prefix length; did you mean 192.168.4.0/22?"},
        {"[service a]\nallow = 2001:db8::1/64\n",
         "f:2: allow: '2001:db8::1/64' has bits beyond its prefix length; did you mean 2001:db8::/64?"},
        {"[service a]\nallow = 10.0.0.0/8 ::/0\n",
         "f:2: allow: '10.0.0.0/8 ::/0': the prefix length must be 0 to 32"},
        {"[service a]\nallow = 10.0.0.0/8, \\\n", "f:2: allow: item 2 of the list is empty"},
    };

    (void)state;
    ASSERT_ERRORS(cases);
}

/* A list of more items than the table allows, and one of just as many. */
static void lists_are_bounded(void **state)
{
    char text[4096] = MINIMAL "listen = \\\n";
    size_t used = strlen(text);

    (void)state;
    for (unsigned i = 1; i <= 64; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "127.0.0.1:%u%s\n", i,
                                 i < 64 ? ",\\" : "");
    settings_free(fixture_parse(text));
    (void)snprintf(text + used - 1, sizeof(text) - used, ",127.0.0.1:65\n");
    fixture_fails(text, "f:3: listen: the list has more than 64 items");
}

/* Sections and keys that aren't known, stand twice or stand nowhere. */
static void structure(void **state)
{
    static const struct error_case cases[] = {
        {"", "f: there is no [service NAME] section"},
        {"[daemon]\n[cache]\n", "f: there is no [service NAME] section"},
        {"\xef\xbb", "f:1: neither [section] nor key = value"},
        {"workers = 1\n", "f:1: workers: stands before the first section"},
        {"\n\n[deamon]\n", "f:3: [deamon]: unknown section; did you mean [daemon]?"},
        {"[daemn]\n", "f:1: [daemn]: unknown section; did you mean [daemon]?"},
        {"[Cache]\n", "f:1: [Cache]: unknown section; did you mean [cache]?"},
        {"[services home]\n",
         "f:1: [services home]: unknown section; did you mean [service NAME]?"},
        {"[home]\n", "f:1: [home]: unknown section"},
        {"[]\n", "f:1: []: unknown section"},
        {"[\n", "f:1: [: a section's heading ends in ]"},
        {"[daemon\n", "f:1: [daemon: a section's heading ends in ]"},
        {"[daemon] workers = 1\n", "f:1: [daemon] workers = 1: a section's heading ends in ]"},
        {"[daemon x]\n", "f:1: [daemon x]: this section has no name of its own"},
        {"[daemon]\n[cache]\n[daemon]\n", "f:3: [daemon]: stands already at line 1"},
        {"[daemon]\n[cache]\nmemory = 1\n[cache]\n", "f:4: [cache]: stands already at line 2"},
        {MINIMAL "[service b]\n[service home]\n", "f:4: [service home]: stands already at line 1"},
        {"[service]\n", "f:1: [service]: a service needs a name: [service NAME]"},
        {"[service   ]\n", "f:1: [service   ]: a service needs a name: [service NAME]"},
        {"[service a b]\n",
         "f:1: [service a b]: a service's name is 1 to 63 of the characters A-Z a-z 0-9 _ . -"},
        {"[service \"a\"]\n",
         "f:1: [service \"a\"]: a service's name is 1 to 63 of the characters A-Z a-z 0-9 _ . -"},
        {"[service a/b]\n",
         "f:1: [service a/b]: a service's name is 1 to 63 of the characters A-Z a-z 0-9 _ . -"},
        {"[service a]b]\n",
         "f:1: [service a]b]: a service's name is 1 to 63 of the characters A-Z a-z 0-9 _ . -"},
        {"[service 0123456789012345678901234567890123456789012345678901234567890123]\n",
         "f:1: [service 012345678901234567890123456789012345678901234567890...: a service's name is 1 to 63 of the "
         "characters A-Z a-z 0-9 _ . -"},
        {"[daemon]\nworker = 1\n", "f:2: worker: unknown key in [daemon]; did you mean workers?"},
        {"[daemon]\nlog_level = info\n",
         "f:2: log_level: unknown key in [daemon]; did you mean log-level?"},
        {"[daemon]\nWorkers = 1\n", "f:2: Workers: unknown key in [daemon]; did you mean workers?"},
        {"[daemon]\nmemory = 1G\n", "f:2: memory: unknown key in [daemon]; it belongs in [cache]"},
        {"[cache]\nage-min = 1s\n",
         "f:2: age-min: unknown key in [cache]; it belongs in [service NAME]"},
        {"[service a]\nage-mim = 1s\n",
         "f:2: age-mim: unknown key in [service NAME]; did you mean age-min?"},
        {"[service a]\nport = 1\n", "f:2: port: unknown key in [service NAME]"},
        {"[service a]\n= 1\n", "f:2: : unknown key in [service NAME]"},
        {"[daemon]\nworkers = 1\n\nworkers = 1\n", "f:4: workers: stands already at line 2"},
        {MINIMAL "server = nas\n", "f:3: server: stands already at line 2"},
        {"[daemon]\nworkers\n", "f:2: neither [section] nor key = value"},
        {"[daemon]\n/* no */\n", "f:2: neither [section] nor key = value"},
    };

    (void)state;
    ASSERT_ERRORS(cases);
}

/* What only the whole file tells. */
static void contradictions(void **state)
{
    static const struct error_case cases[] = {
        {"[daemon]\n[service a]\nnfs-port = 1\n", "f:2: server: is missing in [service a]"},
        {"[service a]\nserver=x\n[service b]\nlisten=[::1]:1\n",
         "f:3: server: is missing in [service b]"},
        {MINIMAL "age-min = 5s\nage-max = 4s\n", "f:4: age-max: age-min is above age-max"},
        {MINIMAL "age-max = 4s\nage-min = 5s\n", "f:4: age-min: age-min is above age-max"},
        {MINIMAL "listen = [::1]:1, 127.0.0.1:1, [0::1]:1\n",
         "f:3: listen: [::1]:1 stands twice in the list"},
        {MINIMAL "listen = 127.0.0.1:1, [::ffff:127.0.0.1]:1\n",
         "f:3: listen: 127.0.0.1:1 stands twice in the list"},
        {MINIMAL "[service b]\nserver = x\n",
         "f:3: listen: 0.0.0.0:2049 is also an address of [service home]"},
        {MINIMAL "[service b]\nserver = x\nlisten = [::]:5, 0.0.0.0:2049\n",
         "f:5: listen: 0.0.0.0:2049 is also an address of [service home]"},
        {"[service b]\nlisten = [::]:1, [::]:2\nserver = x\n[service c]\nserver = x\nlisten = [::]:3, [::]:2\n",
         "f:6: listen: [::]:2 is also an address of [service b]"},
        {"[daemon]\nhttp = 0.0.0.0:2049\n" MINIMAL,
         "f:3: listen: 0.0.0.0:2049 is also the address of http"},
        {MINIMAL "[daemon]\nhttp = 0.0.0.0:2049\n",
         "f:4: http: 0.0.0.0:2049 is also an address of [service home]"},
    };

    (void)state;
    ASSERT_ERRORS(cases);
}

/* The same port on other addresses, and the same server behind two services, contradict nothing. */
static void what_is_no_contradiction(void **state)
{
    (void)state;
    settings_free(fixture_parse(
        "[daemon]\nhttp = 127.0.0.3:2049\n[service a]\nserver = x\nlisten = 127.0.0.1:2049, "
        "[::1]:2049\n[service b]\nserver = x\nlisten = 127.0.0.2:2049, 127.0.0.1:2050\n"));
    settings_free(fixture_parse(MINIMAL "age-min = 5s\nage-max = 5s\n"));
}

/* Of two ages that don't fit, the one that was given is what counts. */
static void an_age_not_given_follows(void **state)
{
    (void)state;
    struct settings *settings = fixture_parse(MINIMAL "age-max = 2s\n");
    assert_int_equal(settings->services[0].age_min, 2000000000);
    assert_int_equal(settings->services[0].age_max, 2000000000);
    settings_free(settings);
    settings = fixture_parse(MINIMAL "age-min = 2m\n");
    assert_int_equal(settings->services[0].age_min, 120000000000);
    assert_int_equal(settings->services[0].age_max, 120000000000);
    settings_free(settings);
}

/* One error, the first: by line, whichever part finds it. */
static void first_error_wins(void **state)
{
    static const struct error_case cases[] = {
        {"[daemon]\nworkers = x\nnonsense\nrpcbind = x\n",
         "f:2: workers: 'x' is not a whole number"},
        {"[daemon]\nnonsense\nworkers = x\n", "f:2: neither [section] nor key = value"},
        {"[daemon]\nnonsense\n[what]\n", "f:2: neither [section] nor key = value"},
        {"[daemon]\nworkers = x\n[what]\n", "f:2: workers: 'x' is not a whole number"},
        {"[daemon]\nworkers = x\nwhat = 1\n", "f:2: workers: 'x' is not a whole number"},
        {"[daemon]\nwhat = 1\nworkers = x\n", "f:2: what: unknown key in [daemon]"},
        {"[daemon]\nworkers = x", "f:2: workers: 'x' is not a whole number"},
        {"[service a]\nage-min = 1h\n[service b]\nverify = 2\n",
         "f:4: verify: '2' is out of range: 0 to 1"},
    };

    (void)state;
    ASSERT_ERRORS(cases);
}

/* A line number is that of the file, whatever comments, continuations and line ends stand before. */
static void line_numbers(void **state)
{
    static const struct error_case cases[] = {
        {"# 1\n\n; 3\n[daemon]\n\t\nworkers = x\n", "f:6: workers: 'x' is not a whole number"},
        {"[daemon]\r\n\r\nworkers = x\r\n", "f:3: workers: 'x' is not a whole number"},
        {MINIMAL "allow = ::1, \\\n  ::2, \\\n  ::3\nage-min = x\n",
         "f:6: age-min: 'x' is not a duration (such as 500ms, 3s, 1m)"},
        /* A continued value's line is the one that its key stands on. */
        {MINIMAL "allow = ::1, \\\n  ::2, \\\n  x\nage-min = x\n",
         "f:3: allow: 'x' is not an address or network (such as 10.0.0.0/8 or fd00::/8)"},
        /* What stands behind an unfinished line is part of it. */
        {"[daemon]\nworkers = 1 \\\n[cache]\n", "f:2: workers: '1 [cache]' is not a whole number"},
        {"[daemon]\nworkers = 1 \\\n\nmemory = 1\n",
         "f:4: memory: unknown key in [daemon]; it belongs in [cache]"},
        {"[daemon]\n\\\n4\n", "f:2: a backslash with nothing to continue"},
        {"[daemon]\\\nworkers = 1\n", "f:1: a backslash with nothing to continue"},
    };

    (void)state;
    ASSERT_ERRORS(cases);
}

/* inih alone would cut such a line and go on; half a list of addresses must never be in force. */
static void long_lines_are_refused(void **state)
{
    char text[512];

    (void)state;
    (void)snprintf(text, sizeof(text), MINIMAL "allow = %0190d\n", 0);
    fixture_fails(
        text, "f:3: line too long: more than 197 characters; end it with \\ and go on in the next");
    (void)snprintf(text, sizeof(text), MINIMAL "allow = %0189d\n", 0);
    fixture_fails(
        text,
        "f:3: allow: '000000000000000000000000000000000000000000000000000000000000...' is not an address "
        "or network (such as 10.0.0.0/8 or fd00::/8)");
    (void)snprintf(text, sizeof(text), "[service %0200d]\n", 0);
    fixture_fails(
        text, "f:1: line too long: more than 197 characters; end it with \\ and go on in the next");
}

/* Octets that have no place in a text neither end it early nor reach a terminal. */
static void odd_octets(void **state)
{
    static const char zero[] = "[daemon]\nworkers = 1\0 2\n";
    struct settings_error error;

    (void)state;
    assert_null(settings_parse(zero, sizeof(zero) - 1, "f", &error));
    assert_string_equal(error.text, "f:2: a zero octet; this is not a text file");
    fixture_fails("[daemon]\nworkers = \x1b[31m\n", "f:2: workers: '?[31m' is not a whole number");
    fixture_fails("[daemon]\n\x7f\x01 = 1\n", "f:2: ??: unknown key in [daemon]");
    /* A quote is never cut within a character. */
    fixture_fails(
        "[daemon]\nworkers = 12345678901234567890123456789012345678901234567890123456789\xc3\xa4\n",
        "f:2: workers: '12345678901234567890123456789012345678901234567890123456789...' is not a whole "
        "number");
}

/* However long the file's name, the cause is still there. */
static void long_file_names_are_cut_in_front(void **state)
{
    char name[2048];
    struct settings_error error;

    (void)state;
    memset(name, 'd', sizeof(name));
    (void)snprintf(name + 2000, sizeof(name) - 2000, "/nfsaccel.conf");
    assert_null(settings_parse("x\n", 2, name, &error));
    assert_int_equal(strlen(error.text), 3 + 96 + strlen(":1: neither [section] nor key = value"));
    assert_memory_equal(error.text, "...ddd", 6);
    assert_non_null(strstr(error.text, "dd/nfsaccel.conf:1: neither [section] nor key = value"));
}

/* Files that can't be read are told by the system's own words; a huge one isn't read to its end. */
static void unreadable_files(void **state)
{
    char name[] = "/tmp/settings-XXXXXX";
    char expected[128];
    struct settings_error error;
    int fd = mkstemp(name);

    (void)state;
    assert_true(fd >= 0);
    assert_null(settings_load("/nonexistent/f.conf", &error));
    assert_string_equal(error.text, "/nonexistent/f.conf: No such file or directory");
    assert_null(settings_load("/", &error));
    assert_string_equal(error.text, "/: Is a directory");
    assert_null(settings_load("/dev/zero", &error));
    assert_string_equal(error.text, "/dev/zero: File too large");
    assert_null(settings_load(name, &error));
    (void)snprintf(expected, sizeof(expected), "%s: there is no [service NAME] section", name);
    assert_string_equal(error.text, expected);
    assert_int_equal(write(fd, "[daemon]\nx\n", 11), 11);
    assert_null(settings_load(name, &error));
    (void)snprintf(expected, sizeof(expected), "%s:2: neither [section] nor key = value", name);
    assert_string_equal(error.text, expected);
    assert_int_equal(close(fd), 0);
    assert_int_equal(unlink(name), 0);
}

/* Reads the committed example; its length. */
static size_t read_example(char *text, size_t size)
{
    FILE *stream = fopen(SETTINGS_EXAMPLE, "r");
    size_t len;

    assert_non_null(stream);
    len = fread(text, 1, size, stream);
    assert_int_equal(fclose(stream), 0);
    assert_true(len > 1000 && len < size);
    return len;
}

static unsigned parse_copy(const char *text, size_t len)
{
    struct settings_error error = {""};
    /* On the heap and not terminated, so that a sanitizer sees a read beyond it. */
    char *copy = malloc(len > 0 ? len : 1);
    struct settings *settings;

    assert_non_null(copy);
    memcpy(copy, text, len);
    settings = settings_parse(copy, len, "f", &error);
    assert_int_equal(settings == NULL, error.text[0] != '\0');
    free(copy);
    settings_free(settings);
    return settings != NULL;
}

/* A file that is cut off anywhere gives settings or an error, reads nothing beyond its end and
 * leaks nothing. */
static void every_prefix_of_the_example(void **state)
{
    static char text[16384];
    size_t len = read_example(text, sizeof(text));
    unsigned good = 0;

    (void)state;
    for (size_t i = 0; i <= len; i++)
        good += parse_copy(text, i);
    /* Both happen, or the test would prove nothing. */
    assert_true(good > 100 && good < len);
}

/* The same for one octet replaced by each of those that mean something to the parser. */
static void every_octet_of_the_example_broken(void **state)
{
    static const char octets[] = "\n\\[]=:#; ,/0-x\xff";
    static char text[16384];
    size_t len = read_example(text, sizeof(text));
    unsigned good = 0, all = 0;

    (void)state;
    for (size_t i = 0; i < len; i += 3) {
        char kept = text[i];

        for (size_t j = 0; j < sizeof(octets); j += 1 + i % 2, all++) {
            text[i] = octets[j];
            good += parse_copy(text, len);
        }
        text[i] = kept;
    }
    assert_true(good > 100 && good < all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(daemon_and_cache_values),
        cmocka_unit_test(service_values),
        cmocka_unit_test(lists),
        cmocka_unit_test(lists_are_bounded),
        cmocka_unit_test(structure),
        cmocka_unit_test(contradictions),
        cmocka_unit_test(what_is_no_contradiction),
        cmocka_unit_test(an_age_not_given_follows),
        cmocka_unit_test(first_error_wins),
        cmocka_unit_test(line_numbers),
        cmocka_unit_test(long_lines_are_refused),
        cmocka_unit_test(odd_octets),
        cmocka_unit_test(long_file_names_are_cut_in_front),
        cmocka_unit_test(unreadable_files),
        cmocka_unit_test(every_prefix_of_the_example),
        cmocka_unit_test(every_octet_of_the_example_broken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
