#include "common/hosts.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SEPARATORS ", \t\n"

static int parse_port(const char *text, size_t len, int *port)
{
    long n = 0;

    if (!len || len > 5)
        return -1;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        n = n * 10 + (text[i] - '0');
    }
    if (n < 1 || n > 65535)
        return -1;
    *port = (int)n;
    return 0;
}

static bool name_plausible(const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (name[i] <= ' ' || name[i] > '~' || strchr("[]/", name[i]))
            return false;
    return len > 0;
}

/* One "host", "host:port", "v6" or "[v6]:port" of len bytes. */
static int parse_one(const char *text, size_t len, int default_port, struct host *h, struct err *err)
{
    const char *name = text, *colon = memchr(text, ':', len), *port = NULL;
    size_t name_len = len;

    if (len && text[0] == '[') {
        const char *end = memchr(text, ']', len);

        if (!end || (end + 1 < text + len && end[1] != ':'))
            return err_set(err, "host \"%.*s\": expected [ADDRESS] or [ADDRESS]:PORT", (int)len, text);
        name = text + 1;
        name_len = (size_t)(end - name);
        port = end + 1 < text + len ? end + 2 : NULL;
    } else if (colon && !memchr(colon + 1, ':', len - (size_t)(colon + 1 - text))) {
        name_len = (size_t)(colon - text);
        port = colon + 1;
    }
    if (name_len >= sizeof(h->name) || !name_plausible(name, name_len))
        return err_set(err, "host \"%.*s\": not a host name or address", len > 80 ? 80 : (int)len, text);
    memcpy(h->name, name, name_len);
    h->name[name_len] = '\0';
    h->port = default_port;
    if (port && parse_port(port, (size_t)(text + len - port), &h->port) < 0)
        return err_set(err, "host \"%.*s\": the port must be 1 to 65535", (int)len, text);
    return 0;
}

int hosts_pick(const char *hosts, unsigned index, int default_port, struct host *host, struct err *err)
{
    struct host h;
    int n = 0;

    for (const char *p = hosts; *(p += strspn(p, SEPARATORS)); p += strcspn(p, SEPARATORS), n++)
        if (parse_one(p, strcspn(p, SEPARATORS), default_port, &h, err) < 0)
            return -1;
    if (!n)
        return err_set(err, "no controller given, expected host[:port][,host[:port]...]");
    if (!host)
        return n;
    index %= (unsigned)n;
    for (const char *p = hosts; *(p += strspn(p, SEPARATORS)); p += strcspn(p, SEPARATORS))
        if (!index--) {
            parse_one(p, strcspn(p, SEPARATORS), default_port, host, NULL);
            break;
        }
    return n;
}

double hosts_retry_s(unsigned failures, int n, double chance)
{
    unsigned rounds = n > 0 && failures ? (failures - 1) / (unsigned)n : 0;

    return (0.75 + 0.5 * chance) * (rounds > 3 ? 2 : 0.2 * (1u << rounds));
}

int hosts_complete(const char *hosts, int default_port, char *out, size_t size, struct err *err)
{
    int n = hosts_pick(hosts, 0, default_port, NULL, err);
    size_t at = 0;

    for (int i = 0; i < n; i++) {
        struct host host;

        hosts_pick(hosts, (unsigned)i, default_port, &host, NULL);
        at += (size_t)snprintf(out + at, size - at, strchr(host.name, ':') ? "%s[%s]:%d" : "%s%s:%d",
                               i ? "," : "", host.name, host.port);
        if (at >= size)
            return err_set(err, "too long with its ports");
    }
    return n < 0 ? -1 : 0;
}
