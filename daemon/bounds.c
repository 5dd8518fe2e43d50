#include "daemon/bounds.h"

#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"

#define UNFINISHED_MAX 512u /* of an address */
#define BURST_S        10.0 /* an address may make the connections of this time at once */
#define RECORDINGS_MAX 4u   /* of a user */
#define WAITING_MAX    (16u << 20)
#define ARRIVING_MAX   (32u << 20)
#define ARRIVING_SMALL (64u << 10) /* a connection that holds less is not the one to end */
#define FORGET_S       60.0        /* after which an address has no history */

struct bounds {
    const struct config *config;
    struct bounds_user **user;
    size_t n_users, users_cap;
    struct bounds_address **address;
    size_t n_addresses, addresses_cap;
    double ticked_s;
    struct bounds_sums sums;
};

struct bounds *bounds_new(void)
{
    struct bounds *b = xcalloc(1, sizeof(*b));

    b->ticked_s = NAN;
    return b;
}

void bounds_free(struct bounds *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->n_users; i++)
        free(b->user[i]);
    for (size_t i = 0; i < b->n_addresses; i++)
        free(b->address[i]);
    free(b->user);
    free(b->address);
    free(b);
}

void bounds_configure(struct bounds *b, const struct config *c)
{
    b->config = c;
}

/* ---- addresses ---- */

struct bounds_address *bounds_address(struct bounds *b, const struct sockaddr *from, double now_s)
{
    struct bounds_address *a;
    unsigned char key[16] = "";

    if (from && from->sa_family == AF_INET6) {
        memcpy(key, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
    } else if (from && from->sa_family == AF_INET) {
        key[10] = key[11] = 0xff;
        memcpy(key + 12, &((const struct sockaddr_in *)from)->sin_addr, 4);
    }
    for (size_t i = 0; i < b->n_addresses; i++)
        if (!memcmp(b->address[i]->key, key, sizeof(key)))
            return b->address[i];
    b->address = xgrow(b->address, &b->addresses_cap, b->n_addresses + 1, sizeof(struct bounds_address *));
    a = b->address[b->n_addresses++] = xcalloc(1, sizeof(*a));
    memcpy(a->key, key, sizeof(key));
    a->left = b->config->handshakes_per_s * BURST_S;
    a->at_s = now_s;
    return a;
}

bool bounds_connects(struct bounds *b, struct bounds_address *a, double now_s)
{
    double per_s = b->config->handshakes_per_s;

    a->left = fmin(per_s * BURST_S, a->left + (now_s - a->at_s) * per_s);
    a->at_s = now_s;
    if (a->left < 1) {
        bounds_refused(b);
        return false;
    }
    a->left--;
    return true;
}

bool bounds_crowded(const struct bounds_address *a)
{
    return a->unfinished >= UNFINISHED_MAX;
}

/* ---- users ---- */

struct bounds_user *bounds_user(struct bounds *b, uid_t uid)
{
    struct bounds_user *u;

    for (size_t i = 0; i < b->n_users; i++)
        if (b->user[i]->uid == uid)
            return b->user[i];
    b->user = xgrow(b->user, &b->users_cap, b->n_users + 1, sizeof(struct bounds_user *));
    u = b->user[b->n_users++] = xcalloc(1, sizeof(*u));
    u->uid = uid;
    u->time_s = BOUNDS_TIME_S;
    return u;
}

int bounds_connection(const struct bounds *b, const struct bounds_user *u, struct err *err)
{
    if (u->free || u->connections < (size_t)b->config->user_connections)
        return 0;
    return err_set(err, "uid %u has %zu connections, the most that a user may have (UserConnections)",
                   (unsigned)u->uid, u->connections);
}

int bounds_step(const struct bounds *b, const struct bounds_user *u, struct err *err)
{
    if (!u->free && u->steps >= (size_t)b->config->user_steps)
        return err_set(err, "uid %u has %zu guarded steps, the most that a user may have (UserSteps)",
                       (unsigned)u->uid, u->steps);
    if (!u->free && u->bytes >= b->config->user_memory)
        return err_set(err, "the guarded steps of uid %u take %s, the most that a user may have (UserMemory)",
                       (unsigned)u->uid, text_bytes(u->bytes).s);
    if (b->sums.bytes >= b->config->memory)
        return err_set(err, "all guarded steps take %s, the most that they may have (Memory)",
                       text_bytes(b->sums.bytes).s);
    return 0;
}

int bounds_recording(const struct bounds_user *u, struct err *err)
{
    if (u->free || u->recordings < RECORDINGS_MAX)
        return 0;
    return err_set(err, "%zu recordings are running, the most that a user may have", u->recordings);
}

int bounds_question(const struct bounds *b, const struct bounds_user *u, struct err *err)
{
    if (u->free)
        return 0;
    if (u->waiting_bytes > WAITING_MAX)
        return err_set(err, "%s of answers wait to be read on your connections: read them first",
                       text_bytes(u->waiting_bytes).s);
    if (u->time_s < 0)
        return err_set(
            err,
            "your queries and guarded steps take more than %s of the controller's time (UserLoad): try again in %s",
            text_percent(b->config->user_load).s,
            text_age(ceil(-u->time_s / fmax(b->config->user_load, 0.01))).s);
    return 0;
}

int bounds_arriving(const struct bounds_user *u, double bytes, struct err *err)
{
    if (u->free || bytes < ARRIVING_SMALL || u->arriving_bytes <= ARRIVING_MAX)
        return 0;
    return err_set(
        err, "frames that your connections have begun hold %s, the most that a user may have: end them first",
        text_bytes(ARRIVING_MAX).s);
}

double bounds_step_bytes(const struct bounds *b, const struct bounds_user *u, double has_bytes)
{
    double all = b->config->memory - b->sums.bytes,
           own = u->free ? INFINITY : b->config->user_memory - u->bytes;

    return has_bytes + fmax(0, fmin(all, own));
}

bool bounds_time(const struct bounds_user *u)
{
    return u->free || u->time_s >= 0;
}

void bounds_took(struct bounds_user *u, double seconds)
{
    u->time_s -= seconds;
}

void bounds_holds(struct bounds *b, struct bounds_user *u, double bytes)
{
    u->bytes += bytes;
    b->sums.bytes += bytes;
}

/* ---- time ---- */

void bounds_tick(struct bounds *b, double now_s)
{
    double over_s = isnan(b->ticked_s) ? 0 : now_s - b->ticked_s;
    size_t kept = 0;

    b->ticked_s = now_s;
    for (size_t i = 0; i < b->n_users; i++) {
        struct bounds_user *u = b->user[i];

        u->time_s = fmin(BOUNDS_TIME_S, u->time_s + over_s * b->config->user_load);
        if (u->connections || u->steps || u->time_s < BOUNDS_TIME_S) {
            b->user[kept++] = u;
            continue;
        }
        b->sums.left_out += u->left_out;
        free(u);
    }
    b->n_users = kept;
    kept = 0;
    for (size_t i = 0; i < b->n_addresses; i++)
        if (b->address[i]->unfinished || now_s < b->address[i]->at_s + FORGET_S)
            b->address[kept++] = b->address[i];
        else
            free(b->address[i]);
    b->n_addresses = kept;
}

struct bounds_sums bounds_sums_get(const struct bounds *b)
{
    struct bounds_sums sums = b->sums;

    sums.users = b->n_users;
    for (size_t i = 0; i < b->n_users; i++)
        sums.left_out += b->user[i]->left_out;
    for (size_t i = 0; i < b->n_addresses; i++)
        sums.unfinished += b->address[i]->unfinished;
    return sums;
}

void bounds_refused(struct bounds *b)
{
    b->sums.refused++;
}
