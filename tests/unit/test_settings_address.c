/* Addresses and networks: what is accepted, who is let in, how they are shown. */
#include "settings_fixture.h"
#include "config/settings_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/un.h>

static struct sockaddr_storage peer_of(const char *text)
{
    struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(700)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(700)};

    if (inet_pton(AF_INET, text, &in.sin_addr) == 1)
        memcpy(&peer, &in, sizeof(in));
    else if (inet_pton(AF_INET6, text, &in6.sin6_addr) == 1)
        memcpy(&peer, &in6, sizeof(in6));
    else
        fail_msg("%s", text);
    return peer;
}

/* Who may connect: each edge of a prefix, the families apart, and mapped addresses as what they
 * mean. */
static void allow_lets_in_whom_it_names(void **state)
{
    static const struct {
        const char *allow, *peer;
        bool allowed;
    } cases[] = {
        {"0.0.0.0/0, ::/0", "203.0.113.9", true},
        {"0.0.0.0/0, ::/0", "2001:db8::1", true},
        {"0.0.0.0/0, ::/0", "::ffff:203.0.113.9", true},
        {"0.0.0.0/0", "255.255.255.255", true},
        {"0.0.0.0/0", "::1", false},
        {"0.0.0.0/0", "::ffff:1.2.3.4", true},
        {"::/0", "1.2.3.4", false},
        {"::/0", "::ffff:1.2.3.4", false},
        {"::/0", "::", true},
        {"10.0.0.0/8", "10.0.0.0", true},
        {"10.0.0.0/8", "10.255.255.255", true},
        {"10.0.0.0/8", "9.255.255.255", false},
        {"10.0.0.0/8", "11.0.0.0", false},
        {"10.0.0.0/8", "::ffff:10.1.2.3", true},
        {"10.0.0.0/8", "::ffff:11.1.2.3", false},
        {"10.0.0.0/8", "a00::1", false},
        {"192.168.4.0/22", "192.168.7.255", true},
        {"192.168.4.0/22", "192.168.8.0", false},
        {"192.168.4.0/22", "192.168.3.255", false},
        {"127.0.0.0/9", "127.127.255.255", true},
        {"127.0.0.0/9", "127.128.0.0", false},
        {"128.0.0.0/1", "128.0.0.0", true},
        {"128.0.0.0/1", "127.255.255.255", false},
        {"192.0.2.6/31", "192.0.2.7", true},
        {"192.0.2.6/31", "192.0.2.8", false},
        {"192.0.2.6", "192.0.2.6", true},
        {"192.0.2.6", "192.0.2.7", false},
        {"192.0.2.6/32", "192.0.2.6", true},
        {"0.0.0.0", "0.0.0.0", true},
        {"0.0.0.0", "0.0.0.1", false},
        {"fd00::/8", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true},
        {"fd00::/8", "fc00::1", false},
        {"2001:db8::/33", "2001:db8:7fff::1", true},
        {"2001:db8::/33", "2001:db8:8000::", false},
        {"::1", "::1", true},
        {"::1", "::", false},
        {"::1", "127.0.0.1", false},
        {"2001:db8::4/127", "2001:db8::5", true},
        {"2001:db8::4/127", "2001:db8::6", false},
        /* A mapped network is the IPv4 one. */
        {"::ffff:10.0.0.0/104", "10.9.9.9", true},
        {"::ffff:10.0.0.0/104", "::ffff:10.9.9.9", true},
        {"::ffff:10.0.0.0/104", "11.0.0.0", false},
        {"::ffff:0.0.0.0/96", "8.8.8.8", true},
        {"::ffff:192.0.2.6", "192.0.2.6", true},
        {"::ffff:192.0.2.6", "192.0.2.7", false},
        /* Any item of the list will do. */
        {"10.0.0.0/8 , 192.0.2.1,::1", "192.0.2.1", true},
        {"10.0.0.0/8 , 192.0.2.1,::1", "::1", true},
        {"10.0.0.0/8 , 192.0.2.1,::1", "192.0.2.2", false},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sockaddr_storage peer = peer_of(cases[i].peer);
        struct settings_service service = {0};
        struct settings_cause cause = {""};

        assert_int_equal(settings_prefixes_parse(cases[i].allow, 16, &service.allow,
                                                 &service.allow_count, &cause),
                         0);
        if (settings_allowed(&service, (const struct sockaddr *)&peer) != cases[i].allowed)
            fail_msg("allow %s, peer %s", cases[i].allow, cases[i].peer);
        free(service.allow);
    }
}

/* Nobody gets in where nobody is named, nor by an address that is no IP address. */
static void unknown_means_no(void **state)
{
    struct settings *settings = fixture_parse(MINIMAL);
    struct settings_service nobody = {0};
    struct sockaddr_storage peer = peer_of("127.0.0.1");
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr none = {.sa_family = AF_UNSPEC};

    (void)state;
    assert_true(settings_allowed(&settings->services[0], (const struct sockaddr *)&peer));
    assert_false(settings_allowed(&nobody, (const struct sockaddr *)&peer));
    assert_false(settings_allowed(&settings->services[0], (const struct sockaddr *)&local));
    assert_false(settings_allowed(&settings->services[0], &none));
    settings_free(settings);
}

/* An address can be bound as it is: family, length and port in network order. And it reads back as
 * written. */
static void addresses_are_socket_addresses(void **state)
{
    static const struct {
        const char *text, *shown;
        int family;
        socklen_t len;
    } cases[] = {
        {"0.0.0.0:2049", "0.0.0.0:2049", AF_INET, sizeof(struct sockaddr_in)},
        {"255.255.255.255:65535", "255.255.255.255:65535", AF_INET, sizeof(struct sockaddr_in)},
        {"127.0.0.1:1", "127.0.0.1:1", AF_INET, sizeof(struct sockaddr_in)},
        {"[::]:2049", "[::]:2049", AF_INET6, sizeof(struct sockaddr_in6)},
        {"[2001:DB8:0::1]:0111", "[2001:db8::1]:111", AF_INET6, sizeof(struct sockaddr_in6)},
        {"[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]:65535",
         "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535", AF_INET6, sizeof(struct sockaddr_in6)},
        {"[::ffff:10.1.2.3]:7", "10.1.2.3:7", AF_INET, sizeof(struct sockaddr_in)},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct settings_address address;
        struct settings_cause cause = {""};
        char text[64];

        assert_int_equal(settings_address_parse(cases[i].text, &address, &cause), 0);
        assert_int_equal(address.addr.ss_family, cases[i].family);
        assert_int_equal(address.len, cases[i].len);
        settings_address_text(&address, text, sizeof(text));
        assert_string_equal(text, cases[i].shown);
    }
}

/* The octets of the socket address, by hand. */
static void ports_are_in_network_order(void **state)
{
    struct settings_address address;
    struct settings_cause cause = {""};
    struct sockaddr_in in;

    (void)state;
    assert_int_equal(settings_address_parse("10.1.2.3:2049", &address, &cause), 0);
    memcpy(&in, &address.addr, sizeof(in));
    assert_memory_equal(&in.sin_port, "\x08\x01", 2);
    assert_memory_equal(&in.sin_addr, "\x0a\x01\x02\x03", 4);
}

/* A short buffer gets a cut text, not an overrun; what is no address gets a mark. */
static void address_text_is_bounded(void **state)
{
    struct settings_address address;
    struct settings_cause cause = {""};
    char text[8] = "xxxxxxx";

    (void)state;
    assert_int_equal(settings_address_parse("10.1.2.3:2049", &address, &cause), 0);
    settings_address_text(&address, text, 5);
    assert_memory_equal(text, "10.1\0xx", 8);
    memset(&address, 0, sizeof(address));
    settings_address_text(&address, text, sizeof(text));
    assert_string_equal(text, "?");
}

/* Names and addresses that may stand for a server; what looks like neither is told at once, not at
 * connect. */
static void hosts_are_names_or_addresses(void **state)
{
    static const char *const good[] = {"nas", "nas.example.com", "nas-1_a", "10.0.0.1",
                                       "::1", "2001:db8::1",     "1.b"};
    static const char *const bad[] = {"10.0.0", "10.0.0.1.", "300.0.0.1", "1234",  "-nas",
                                      ".nas",   "a..b",      "na s",      "nas/x", "[::1]",
                                      "nas,b",  "::g",       "nas*",      "a\x01"};
    struct settings_cause cause = {""};
    char longest[255];

    (void)state;
    for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (settings_host_check(good[i], &cause) != 0)
            fail_msg("%s", good[i]);
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (settings_host_check(bad[i], &cause) != -EINVAL)
            fail_msg("%s", bad[i]);
    memset(longest, 'a', sizeof(longest));
    longest[253] = '\0';
    assert_int_equal(settings_host_check(longest, &cause), 0);
    longest[253] = 'a';
    longest[254] = '\0';
    assert_int_equal(settings_host_check(longest, &cause), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allow_lets_in_whom_it_names),
        cmocka_unit_test(unknown_means_no),
        cmocka_unit_test(addresses_are_socket_addresses),
        cmocka_unit_test(ports_are_in_network_order),
        cmocka_unit_test(address_text_is_bounded),
        cmocka_unit_test(hosts_are_names_or_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
