/* SPDX-License-Identifier: Apache-2.0 */
/* links: src/listen/steer_apply.c src/listen/steer_map.c
 * The map from CPUs to seats on machines that are larger than this one: its
 * program runs in an interpreter here; the kernel only has to accept it. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <apr_general.h>
#include <apr_strings.h>
#include <hwloc/bitmap.h>

#include "affinity/pin.h"
#include "listen/steer_apply.h"
#include "t/unit/tap.h"

static apr_pool_t *p;
static struct sock_filter code[BPF_MAXINSNS];

/* Runs a program as the kernel would on @a cpu. @return -1: it is not one */
static long run(int length, unsigned cpu)
{
    unsigned a = 0, x = 0, m[16] = {0}, pc;
    int steps = 0;

    for (pc = 0; pc < (unsigned)length && steps < 64; pc++, steps++) {
        const struct sock_filter *i = &code[pc];

        switch (i->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            a = i->k == (unsigned)(SKF_AD_OFF + SKF_AD_CPU)
                    ? cpu
                    : (unsigned)random();
            break;
        case BPF_ALU | BPF_MOD | BPF_K:
            if (!i->k) {
                return -1;
            }
            a %= i->k;
            break;
        case BPF_ALU | BPF_MUL | BPF_K:
            a *= i->k;
            break;
        case BPF_ALU | BPF_ADD: /* | BPF_K, which is 0 too */
            a += i->k;
            break;
        case BPF_ALU | BPF_SUB | BPF_K:
            a -= i->k;
            break;
        case BPF_ALU | BPF_ADD | BPF_X:
            a += x;
            break;
        case BPF_ST:
            m[i->k] = a;
            break;
        case BPF_LDX | BPF_MEM:
            x = m[i->k];
            break;
        case BPF_JMP | BPF_JA:
            pc += i->k;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            pc += a >= i->k ? i->jt : i->jf;
            break;
        case BPF_RET | BPF_K:
            return i->k;
        case BPF_RET | BPF_A:
            return a;
        default:
            return -1;
        }
    }
    return -1;
}

static cpuset *list(const char *text)
{
    cpuset *set = cpuset_make(p);

    hwloc_bitmap_list_sscanf(set, text);
    return set;
}

static const cpuset **sets_of(int seats)
{
    return apr_palloc(p, sizeof(cpuset *) * (size_t)seats);
}

/* A group of that many listening sockets. @return the first's descriptor */
static int group(int n, int *fds)
{
    struct sockaddr_in sa = {.sin_family = AF_INET,
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(sa);
    int one = 1, i;

    for (i = 0; i < n; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (setsockopt(fds[i], SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one))
            || bind(fds[i], (void *)&sa, len) || listen(fds[i], 8)
            || getsockname(fds[i], (void *)&sa, &len)) {
            return -1;
        }
    }
    return fds[0];
}

/* Every CPU up to 100 past the last goes where the sets say, every seat of a
 * shared CPU gets some, and the kernel takes the program. */
static void check(const char *name, const cpuset **sets, int seats)
{
    steermap *m = steer_map_make(p, sets, seats);
    int length = steer_map_program(m, code, BPF_MAXINSNS);
    int cpus = m->nruns ? m->runs[m->nruns - 1].last + 100 : 100;
    int wrong = 0, starved = 0, cpu, i, fds[2] = {-1, -1};
    struct sock_fprog program = {(unsigned short)length, code};
    char *seen = malloc((size_t)seats);

    for (cpu = 0; cpu < cpus && length > 0; cpu++) {
        int owners = 0, reached = 0;

        memset(seen, 0, (size_t)seats);
        for (i = 0; i < seats; i++) {
            owners += hwloc_bitmap_isset(sets[i], (unsigned)cpu);
        }
        for (i = 0; i < (owners == 1 ? 1 : 32 * owners); i++) {
            long seat = run(length, (unsigned)cpu);

            if (seat < 0 || seat >= seats
                || (owners && !hwloc_bitmap_isset(sets[seat], (unsigned)cpu))) {
                wrong++;
                continue;
            }
            reached += !seen[seat];
            seen[seat] = 1;
        }
        starved += reached < owners;
    }
    free(seen);
    ok(length > 0 && !wrong && !starved,
       "%s: %d instructions, %d runs, %d wrong, %d starved", name, length,
       m->nruns, wrong, starved);
    ok(group(2, fds) >= 0
           && !setsockopt(fds[0], SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF,
                          &program, sizeof(program)),
       "%s: the kernel takes it: %s", name, strerror(errno));
    close(fds[0]);
    close(fds[1]);
}

static void maps(void)
{
    const cpuset **sets = sets_of(4096);
    steermap *m;
    int i;

    for (i = 0; i < 16; i++) {
        sets[i] = list(apr_itoa(p, i));
    }
    check("one CPU per seat, 16 CPUs", sets, 16);
    m = steer_map_make(p, sets, 16);
    ok(m->single && m->nruns == 1 && m->cpu[7] == 7, "which is single");
    ok(steer_map_program(m, code, BPF_MAXINSNS) <= 6, "and short");
    is_int(steer_map_program(m, code, 2), -1, "but not that short");

    for (i = 0; i < 16; i++) {
        sets[i] = list(apr_itoa(p, (i * 8) % 16 + (i * 8) / 16));
    }
    check("dealt round, far apart", sets, 16);

    for (i = 0; i < 256; i++) {
        sets[i] = list(apr_itoa(p, i % 16));
    }
    check("256 seats on 16 CPUs", sets, 256);
    m = steer_map_make(p, sets, 256);
    ok(!m->single && m->runs[0].count == 16 && m->runs[0].stride == 16,
       "where seats share CPUs");

    for (i = 0; i < 4; i++) {
        sets[i] = list(apr_psprintf(p, "%d-%d", i * 4, i * 4 + 3));
    }
    check("four CPUs per seat", sets, 4);
    m = steer_map_make(p, sets, 4);
    ok(!m->single && m->nruns == 4, "as four runs");

    sets[0] = list("15");
    sets[1] = list("21");
    sets[2] = list("22");
    sets[3] = list("26");
    check("sparse CPUs", sets, 4);

    sets[0] = list("3,1000");
    sets[1] = list("5,900-950");
    sets[2] = list("4,2000");
    check("scattered sets, CPUs past 1024", sets, 3);

    sets[0] = list("0-3");
    sets[1] = list("2-5");
    sets[2] = list("");
    check("overlapping sets, an empty one", sets, 3);
    is_int(steer_map_make(p, sets, 3)->cpu[2], -1, "an empty set has no CPU");

    for (i = 0; i < 1024; i++) {
        sets[i] = list(apr_itoa(p, (i * 401) % 1024));
    }
    check("1024 CPUs in disorder", sets, 1024);
    for (i = 0; i < 4096; i++) {
        sets[i] = list(apr_itoa(p, (i * 401) % 4096));
    }
    m = steer_map_make(p, sets, 4096);
    is_int(steer_map_program(m, code, BPF_MAXINSNS), -1,
           "4096 CPUs in disorder are too many");
}

static void chance(void)
{
    int length = steer_map_random(3, code), i, seen[3] = {0};

    for (i = 0; i < 300; i++) {
        seen[run(length, 0) % 3]++;
    }
    ok(seen[0] && seen[1] && seen[2], "chance reaches every seat");
}

static void applying(void)
{
    const cpuset *sets[3];
    const char *failed = "";
    int fds[3] = {-1}, i, value, all = 1;
    socklen_t len = sizeof(value);
    steermap *m;

    for (i = 0; i < 3; i++) {
        sets[i] = list(apr_itoa(p, 2 - i));
    }
    ok(group(3, fds) >= 0, "a group of three");
    m = steer_map_make(p, sets, 3);
    ok(!steer_apply(fds, 3, 3, STEER_INCOMING_CPU, m, &failed),
       "SO_INCOMING_CPU");
    for (i = 0; i < 3; i++) {
        all &= !getsockopt(fds[i], SOL_SOCKET, SO_INCOMING_CPU, &value, &len)
               && value == 2 - i;
    }
    ok(all, "is each socket's CPU");
    ok(!steer_apply(fds, 3, 3, STEER_CBPF, m, &failed), "a program");
    ok(!getsockopt(fds[1], SOL_SOCKET, SO_INCOMING_CPU, &value, &len)
           && value == -1,
       "takes the CPUs off");
    ok(!steer_apply(fds, 3, 3, STEER_NONE, NULL, &failed), "off");
    ok(!steer_apply(fds, 3, 3, STEER_NONE, NULL, &failed), "off twice");
    ok(!steer_apply(fds, 3, 2, STEER_NONE, NULL, &failed),
       "off with a surplus socket");
    ok(!steer_apply(fds, 1, 1, STEER_CBPF, m, &failed), "a socket alone");
    ok(!steer_close_door(fds[0]), "the door is closed");
    for (i = 0; i < 3; i++) {
        close(fds[i]);
    }
}

static void probing(void)
{
    cpuset *allowed = cpuset_make(p), *after = cpuset_make(p);
    const char *why = NULL;
    int both, single;

    pin_get(0, allowed);
    both = hwloc_bitmap_weight(allowed) > 1;
    for (single = 0; single < 2; single++) {
        steer_method method = steer_apply_probe(p, allowed, single, &why);

        ok(both ? method != STEER_NONE : why != NULL, "the probe, with %s: %s",
           single ? "single CPUs" : "sets",
           method ? steer_apply_name(method) : why);
        pin_get(0, after);
        ok(hwloc_bitmap_isequal(allowed, after), "puts the mask back");
    }
    is_int(steer_apply_probe(p, list("0"), 1, &why), STEER_NONE,
           "one CPU is nothing to steer by");
    is_str(why, "there is only one CPU", "which is the reason");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&p, NULL);
    maps();
    chance();
    applying();
    probing();
    apr_pool_destroy(p);
    return done();
}
