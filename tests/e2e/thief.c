/*
 * thief: takes source ports: connects from each of them to one port of this machine, and holds the connections.
 *
 *   e2e-thief PORT SOURCE_PORT...
 *
 * Prints "ready" and how many it got. Ends by SIGTERM.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in loopback(const char *port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* With SO_REUSEADDR, a port that a socket of the same kind is bound to can be bound again. */
static int take(const char *port, const char *source_port)
{
    struct sockaddr_in from = loopback(source_port), to = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    from.sin_addr.s_addr = htonl(INADDR_ANY);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(fd, (struct sockaddr *)&from, sizeof from) != 0 ||
        connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        perror(source_port);
        return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    int taken = 0;
    for (int i = 2; i < argc; i++)
        taken += take(argv[1], argv[i]);
    printf("ready %d\n", taken);
    fflush(stdout);
    pause();
    return 0;
}
