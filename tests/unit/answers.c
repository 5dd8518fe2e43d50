/* Every question to the controller, of a job about which everything that can be said is said in the longest
 * texts and numbers: no answer is longer than doc/protocol.md says, and so none is longer than a frame.  What
 * a view knows, and what databases and links hold, is put in the place of the real functions (--wrap,
 * tests/local.mk). */
#include <event2/event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "actions/action.h"
#include "calls/picture.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "daemon/bounds.h"
#include "daemon/control_private.h"
#include "daemon/controller.h"
#include "daemon/peer.h"
#include "daemon/query.h"
#include "daemon/query_action.h"
#include "detect/straggler.h"
#include "history/audit.h"
#include "history/history.h"
#include "history/lemon.h"
#include "history/store.h"
#include "job/jobs.h"
#include "report/report_launch.h"
#include "report/report_overlap.h"
#include "report/report_scaling.h"
#include "report/report_strategies.h"
#include "report/report_switches.h"
#include "ring/ring.h"
#include "tests/tap.h"
#include "view/comms.h"
#include "view/figures.h"
#include "view/health.h"
#include "view/marks.h"
#include "view/scaling.h"
#include "view/timeline.h"
#include "view/verdicts.h"
#include "view/view.h"
#include "wire/json.h"
#include "wire/pages.h"

/* Bytes of which a text doubles in JSON, a double is 1.8...e-144 and a whole number has 19 digits: the
 * longest of each. */
#define FULL      '"'
#define END(text) ((text)[sizeof(text) - 1] = '\0')

/* With the types of what they stand for. */
__typeof__(view_verdicts_get) __wrap_view_verdicts_get;
__typeof__(view_verdicts_raised) __wrap_view_verdicts_raised;
__typeof__(view_verdicts_reported) __wrap_view_verdicts_reported;
__typeof__(view_sentence) __wrap_view_sentence;
__typeof__(view_figures_get) __wrap_view_figures_get;
__typeof__(view_comms_get) __wrap_view_comms_get;
__typeof__(view_comm_label) __wrap_view_comm_label;
__typeof__(view_shortfalls_get) __wrap_view_shortfalls_get;
__typeof__(view_critical_path_get) __wrap_view_critical_path_get;
__typeof__(view_projection_get) __wrap_view_projection_get;
__typeof__(view_cpu_lack) __wrap_view_cpu_lack;
__typeof__(view_value_get) __wrap_view_value_get;
__typeof__(view_non_finite_get) __wrap_view_non_finite_get;
__typeof__(view_columns_get) __wrap_view_columns_get;
__typeof__(view_stretches_get) __wrap_view_stretches_get;
__typeof__(view_rank_columns) __wrap_view_rank_columns;
__typeof__(view_rank_get) __wrap_view_rank_get;
__typeof__(view_latest_get) __wrap_view_latest_get;
__typeof__(view_rank_health_get) __wrap_view_rank_health_get;
__typeof__(view_node_health_get) __wrap_view_node_health_get;
__typeof__(view_picture) __wrap_view_picture;
__typeof__(report_switches_get) __wrap_report_switches_get;
__typeof__(report_scaling_get) __wrap_report_scaling_get;
__typeof__(report_strategies_get) __wrap_report_strategies_get;
__typeof__(report_overlap_get) __wrap_report_overlap_get;
__typeof__(audit_list) __wrap_audit_list;
__typeof__(actions_get) __wrap_actions_get;
__typeof__(actions_list) __wrap_actions_list;
__typeof__(history_effect) __wrap_history_effect;
__typeof__(history_lemons) __wrap_history_lemons;
__typeof__(store_usual) __wrap_store_usual;
__typeof__(link_uid) __wrap_link_uid;
__typeof__(link_send) __wrap_link_send;

static char full[1024];
static bool over; /* the job has ended */

static void full_text(char *buf, size_t size)
{
    memset(buf, FULL, size - 1);
    buf[size - 1] = '\0';
}

/* ---- what a view knows ---- */

static struct view_verdict verdict[VIEW_RAISED_MAX];

static void fill_verdicts(void)
{
    memset(verdict, FULL, sizeof(verdict));
    for (size_t i = 0; i < ARRAY_SIZE(verdict); i++) {
        struct view_verdict *d = &verdict[i];

        for (size_t c = 0; c < VIEW_CULPRITS_MAX; c++)
            END(d->culprit[c]);
        END(d->text);
        END(d->cause);
        /* places that are priced together, each of them a finding: as many as there are findings */
        d->n_culprits = i * STRAGGLERS_MAX < FINDINGS_MAX ? STRAGGLERS_MAX : VIEW_CULPRITS_MAX;
        d->finding.alone = i * STRAGGLERS_MAX < FINDINGS_MAX ? d->finding.alone : NAN;
        d->finding.class = FINDING_COMMUNICATION;
        d->finding.scope = SCOPE_SWITCH;
        d->finding.standing = d->minor = false;
    }
}

size_t __wrap_view_verdicts_get(const struct view *v, const struct view_verdict **list)
{
    (void)v;
    *list = verdict;
    return VIEW_VERDICTS_MAX;
}

size_t __wrap_view_verdicts_raised(const struct view *v, const struct view_verdict **list)
{
    (void)v;
    *list = verdict;
    return VIEW_RAISED_MAX;
}

size_t __wrap_view_verdicts_reported(const struct view *v, const struct view_verdict **list)
{
    (void)v;
    *list = verdict;
    return over ? VIEW_RAISED_MAX : VIEW_VERDICTS_MAX;
}

char *__wrap_view_sentence(const struct view *v, double now_s, char *buf, size_t size)
{
    (void)v, (void)now_s;
    full_text(buf, size);
    return buf;
}

void __wrap_view_figures_get(const struct view *v, double now_s, struct view_figures *f)
{
    (void)v, (void)now_s;
    memset(f, FULL, sizeof(*f));
    f->regime = VIEW_SYNCHRONISATION;
}

size_t __wrap_view_comms_get(const struct view *v, double now_s, struct view_comm *comm, size_t max)
{
    (void)v, (void)now_s;
    memset(comm, FULL, max * sizeof(*comm));
    for (size_t i = 0; i < max; i++)
        comm[i].instances = 1;
    return max;
}

char *__wrap_view_comm_label(const struct view *v, uint64_t name, char *buf, size_t size)
{
    (void)v, (void)name;
    full_text(buf, size);
    return buf;
}

size_t __wrap_view_shortfalls_get(const struct view *v, const struct view_shortfall **list)
{
    static struct view_shortfall s[VIEW_SHORTFALLS_MAX];

    (void)v;
    memset(s, FULL, sizeof(s));
    for (size_t i = 0; i < ARRAY_SIZE(s); i++) {
        END(s[i].text);
        s[i].s.op = RING_OP_ALLREDUCE;
        s[i].s.source = BASELINE_BY_SIZES;
    }
    *list = s;
    return ARRAY_SIZE(s);
}

void __wrap_view_critical_path_get(const struct view *v, struct view_critical_path *c)
{
    (void)v;
    memset(c, FULL, sizeof(*c));
    c->n = VIEW_CRITICAL_MAX;
    c->moves = VIEW_MOVES_MAX;
    for (size_t i = 0; i < c->n; i++)
        c->rank[i].node = c->move[i].from = c->move[i].to = full;
}

void __wrap_view_projection_get(const struct view *v, double now_s, struct view_projection *p)
{
    (void)v, (void)now_s;
    memset(p, FULL, sizeof(*p));
    END(p->text);
    p->trend = p->step_trend = TREND_NONE;
    p->warning = true;
}

double __wrap_view_cpu_lack(const struct view *v, char *buf, size_t size)
{
    (void)v;
    full_text(buf, size);
    return 1 / 3.0;
}

bool __wrap_view_value_get(const struct view *v, enum marks_value value, struct view_value *out)
{
    (void)v, (void)value;
    memset(out, FULL, sizeof(*out));
    return true;
}

bool __wrap_view_non_finite_get(const struct view *v, struct view_non_finite *n)
{
    (void)v;
    memset(n, FULL, sizeof(*n));
    END(n->text);
    n->value = 0;
    n->rank = 0;
    return true;
}

size_t __wrap_view_columns_get(const struct view *v, struct view_columns *c)
{
    (void)v;
    memset(c, FULL, sizeof(*c));
    return VIEW_COLUMNS;
}

size_t __wrap_view_stretches_get(const struct view *v, struct view_stretches *s)
{
    (void)v;
    memset(s, FULL, sizeof(*s));
    return VIEW_STRETCHES;
}

size_t __wrap_view_rank_columns(const struct view *v, uint32_t rank, float *lateness_s)
{
    (void)v, (void)rank;
    memset(lateness_s, FULL, VIEW_COLUMNS * sizeof(*lateness_s));
    return VIEW_COLUMNS;
}

bool __wrap_view_rank_get(const struct view *v, double now_s, uint32_t rank, struct view_rank_figures *f)
{
    static const struct partner_item partner = { .op = RING_OP_RECV, .peer = UINT16_MAX, .tag = INT32_MAX };

    (void)v, (void)now_s;
    memset(f, FULL, sizeof(*f));
    f->rank = rank;
    f->node = full + sizeof(full) - 64; /* as long as an agent's may be */
    f->switch_name = f->node;
    f->ended = false;
    f->inside_op = RING_OP_ALLREDUCE;
    f->partner = &partner;
    f->process = PROCESS_BLOCKED;
    return true;
}

bool __wrap_view_latest_get(const struct view *v, double now_s, struct view_rank_figures *f)
{
    return __wrap_view_rank_get(v, now_s, 0, f);
}

bool __wrap_view_rank_health_get(const struct view *v, double now_s, uint32_t rank,
                                 struct view_rank_health *h)
{
    (void)v, (void)now_s, (void)rank;
    memset(h, FULL, sizeof(*h));
    END(h->cause);
    END(h->figures.cpus);
    h->figures.rank = 0;
    return true;
}

bool __wrap_view_node_health_get(const struct view *v, double now_s, const char *node,
                                 struct view_node_health *h)
{
    (void)v, (void)now_s, (void)node;
    memset(h, FULL, sizeof(*h));
    h->n_gpus = VIEW_GPUS_MAX;
    return true;
}

static const struct picture *a_picture(uint32_t rows)
{
    static struct picture p;

    if (!p.row) {
        memset(&p, FULL, sizeof(p));
        END(p.text);
        p.basis = PICTURE_OF_CALLS;
        p.row = xcalloc(PICTURE_ROWS_MAX, sizeof(*p.row));
        p.segment = xcalloc(PICTURE_SEGMENTS_MAX, sizeof(*p.segment));
        p.piece = xcalloc(PICTURE_PIECES_MAX, sizeof(*p.piece));
        p.message = xcalloc(PICTURE_MESSAGES_MAX, sizeof(*p.message));
        memset(p.row, FULL, PICTURE_ROWS_MAX * sizeof(*p.row));
        memset(p.segment, FULL, PICTURE_SEGMENTS_MAX * sizeof(*p.segment));
        memset(p.piece, FULL, PICTURE_PIECES_MAX * sizeof(*p.piece));
        memset(p.message, FULL, PICTURE_MESSAGES_MAX * sizeof(*p.message));
        for (size_t i = 0; i < PICTURE_PARTS_MAX; i++) {
            p.part[i].kind = PATH_UNKNOWN;
            END(p.part[i].node);
            END(p.part[i].text);
        }
        for (size_t i = 0; i < PICTURE_SEGMENTS_MAX; i++)
            p.segment[i].kind = PATH_UNKNOWN;
        for (size_t i = 0; i < PICTURE_PIECES_MAX; i++)
            p.piece[i].kind = PATH_UNKNOWN;
        for (size_t i = 0; i < PICTURE_MESSAGES_MAX; i++)
            p.message[i].on_path = false;
        p.n_pieces = PICTURE_PIECES_MAX;
        p.n_messages = PICTURE_MESSAGES_MAX;
        p.n_parts = PICTURE_PARTS_MAX;
    }
    p.n_rows = rows;
    p.n_segments = rows * PICTURE_ROW_SEGMENTS < PICTURE_SEGMENTS_MAX ? rows * PICTURE_ROW_SEGMENTS
                                                                      : PICTURE_SEGMENTS_MAX;
    for (size_t i = 0; i < rows; i++) {
        END(p.row[i].node);
        p.row[i].coarse = false;
        p.row[i].n = p.n_segments / rows;
        p.row[i].first = i * p.row[i].n;
    }
    return &p;
}

const struct picture *__wrap_view_picture(const struct view *v, double now_s, uint32_t rows)
{
    (void)v, (void)now_s;
    return a_picture(rows);
}

struct report_switches *__wrap_report_switches_get(const struct view *v, const struct view_verdict *list,
                                                   size_t verdicts, double now_s, size_t max)
{
    struct report_switches *s = xcalloc(1, sizeof(*s));

    (void)v, (void)list, (void)verdicts, (void)now_s;
    memset(s, FULL, sizeof(*s));
    s->n = max;
    s->n_named = REPORT_NAMED_MAX;
    s->list = xcalloc(max, sizeof(*s->list));
    s->named = xcalloc(REPORT_NAMED_MAX, sizeof(*s->named));
    memset(s->list, FULL, max * sizeof(*s->list));
    memset(s->named, FULL, REPORT_NAMED_MAX * sizeof(*s->named));
    for (size_t i = 0; i < max; i++) {
        END(s->list[i].name);
        END(s->list[i].class);
        END(s->list[i].worst_node);
        s->list[i].first = i * REPORT_NAMED_MAX / max;
        s->list[i].n_named = (i + 1) * REPORT_NAMED_MAX / max - s->list[i].first;
    }
    for (size_t i = 0; i < REPORT_NAMED_MAX; i++) {
        END(s->named[i].name);
        END(s->named[i].class);
        END(s->named[i].scope);
        END(s->named[i].culprit);
    }
    return s;
}

void __wrap_report_scaling_get(struct report_scaling *r, const struct view *v, bool strong)
{
    (void)v, (void)strong;
    memset(r, FULL, sizeof(*r));
    *r->missing = '\0';
    END(r->mode);
    END(r->text);
    END(r->wall);
    r->n = PROJECTION_POINTS;
    r->n_links = VIEW_LINKS_MAX;
    r->n_runs = PROJECTION_RUNS;
    r->n_assumes = REPORT_ASSUMES_MAX;
    r->noise.n_slow = LAST_APART_MAX;
    END(r->noise.shape);
    for (size_t i = 0; i < r->n; i++)
        END(r->point[i].regime);
    for (size_t i = 0; i < r->n_links; i++) {
        END(r->link[i].op);
        r->link[i].grows = false;
        r->link[i].n = LINKFIT_SEGMENTS;
    }
    for (size_t i = 0; i < r->n_assumes; i++)
        END(r->assumes[i]);
}

void __wrap_report_strategies_get(struct report_strategies *r, const struct view *v,
                                  const struct view_strategy_options *options)
{
    (void)v, (void)options;
    memset(r, FULL, sizeof(*r));
    *r->missing = '\0';
    r->n = STRATEGY_MAX;
    r->n_assumes = REPORT_ASSUMES_MAX;
    for (size_t i = 0; i < r->n; i++) {
        END(r->list[i].kind);
        END(r->list[i].name);
        END(r->list[i].reason);
        END(r->list[i].assumes);
        r->list[i].per_sample = r->list[i].assumed = false;
    }
    for (size_t i = 0; i < r->n_assumes; i++)
        END(r->assumes[i]);
}

void __wrap_report_overlap_get(struct report_overlap *r, const struct view *v, double now_s)
{
    (void)v, (void)now_s;
    memset(r, FULL, sizeof(*r));
    *r->missing = '\0';
    END(r->text);
    END(r->all.label);
    END(r->all.no_estimate);
    r->n = OVERLAP_GROUPS_MAX;
    for (size_t i = 0; i < r->n; i++) {
        END(r->group[i].label);
        END(r->group[i].no_estimate);
    }
}

/* ---- what databases and links hold ---- */

static struct audit_entry an_entry(void)
{
    struct audit_entry e;

    memset(&e, FULL, sizeof(e));
    END(e.job_text);
    END(e.policy);
    END(e.outcome_text);
    END(e.effect);
    END(e.d.rule);
    END(e.d.sentence);
    END(e.d.why_not);
    e.command = false;
    e.outcome = AUDIT_PENDING;
    e.d.state = DECISION_ENFORCED;
    e.d.action = ACTION_NODE_COMMENT;
    e.d.signal = 0;
    e.d.n_nodes = FIGURE_NODES_MAX;
    for (size_t i = 0; i < e.d.n_nodes; i++)
        END(e.d.node[i]);
    return e;
}

void __wrap_audit_list(struct audit *a, uint32_t job, uid_t uid, int64_t before, int64_t limit,
                       bool (*each)(const struct audit_entry *e, void *arg), void *arg)
{
    struct audit_entry e = an_entry();

    (void)a, (void)job, (void)uid, (void)before;
    while (limit-- > 0 && each(&e, arg))
        ;
}

const struct action_record *__wrap_actions_get(struct actions *as, int64_t id)
{
    static char nodes[ACTION_NODES_MAX], reason[ACTION_REASON_MAX], key[ACTION_KEY_MAX];
    static struct action_record r = { .id = INT64_MAX,
                                      .kind = ACTION_NODE_COMMENT,
                                      .asked_s = 1 / 3.0,
                                      .tried_s = 1 / 3.0,
                                      .ended_s = 1 / 3.0,
                                      .job_text = full + sizeof(full) - 48,
                                      .nodes = nodes,
                                      .rule = full + sizeof(full) - 32,
                                      .policy = full + sizeof(full) - 32,
                                      .reason = reason,
                                      .key = key,
                                      .outcome = full,
                                      .figures = "" };

    (void)as, (void)id;
    full_text(nodes, sizeof(nodes));
    full_text(reason, sizeof(reason));
    full_text(key, sizeof(key));
    return &r;
}

void __wrap_actions_list(struct actions *as, uint32_t job, uid_t uid, int64_t before, int64_t limit,
                         action_listed *each, void *arg)
{
    (void)job, (void)uid, (void)before;
    while (limit-- > 0 && each(__wrap_actions_get(as, limit), arg))
        ;
}

void __wrap_history_effect(const struct history *h, const struct job *j, enum store_choice choice,
                           struct report_effect *e)
{
    (void)h, (void)j, (void)choice;
    *e = (struct report_effect){ .known = true,
                                 .placed = INT64_MAX,
                                 .held_out = INT64_MAX,
                                 .ratio = 1 / 3.0,
                                 .low = 1 / 3.0,
                                 .high = 1 / 3.0 };
    full_text(e->text, sizeof(e->text));
}

const struct lemon *__wrap_history_lemons(const struct history *h, size_t *n)
{
    static struct lemon l[1000];

    (void)h;
    memset(l, FULL, sizeof(l));
    for (size_t i = 0; i < ARRAY_SIZE(l); i++) {
        END(l[i].node);
        l[i].score = 1;
    }
    *n = ARRAY_SIZE(l);
    return l;
}

void __wrap_store_usual(struct store *s, uid_t uid, const char *name, uint32_t ranks, uint32_t nodes,
                        struct store_allreduces *usual, struct store_turns *turns)
{
    (void)s, (void)uid, (void)name, (void)ranks, (void)nodes;
    memset(usual, FULL, sizeof(*usual));
    END(usual->library);
    usual->n = ALGORITHM_SIZES;
    *turns = (struct store_turns){ .placed = SIZE_MAX / 4, .held_out = SIZE_MAX / 4 };
}

uid_t __wrap_link_uid(const struct link *l)
{
    (void)l;
    return 0;
}

static json_t *sent;
static size_t sent_bytes;

int __wrap_link_send(struct link *l, enum link_frame type, const void *data, size_t bytes)
{
    (void)l, (void)type;
    json_decref(sent);
    sent = json_loadb(data, bytes, 0, NULL);
    sent_bytes = bytes;
    return 0;
}

/* ---- the controller and its job ---- */

static struct config config;
static struct controller s;

/* As many policies, selections and rules as there may be, half of the rules of one policy, with conditions of
 * as many terms as they may have. */
static void configure(void)
{
    char *text = xcalloc(1, 1 << 20), *at = text;
    struct err err = { "" };

    at += sprintf(at, "StateDir=/nonexistent/syncguard\n");
    for (size_t i = 0; i + 8 < CONFIG_POLICIES_MAX; i++)
        at += sprintf(
            at, "Policy=policy-with-a-long-name-%03zu Description=\"%.*s\"\n", i, 127,
            "words words words words words words words words words words "
            "words words words words words words words words words words words words words words words words words words words words");
    for (size_t i = 0; i < 100; i++) {
        at += sprintf(
            at,
            "Rule=rule-of-a-long-name-%03zu Policy=policy-with-a-long-name-%03zu Action=job_comment When=\"",
            i, i < 32 ? 0 : i / 8);
        for (int t = 0; t < 23; t++)
            at += sprintf(at, "%squiet_s > %dh", t ? " or " : "", t + 10);
        at += sprintf(at, "\"\n");
    }
    for (size_t i = 0; i < CONFIG_SELECTIONS_MAX; i++)
        at += sprintf(
            at,
            "PolicyFor=policy-with-a-long-name-000 User=user-of-a-rather-long-name-%03zu Partition=partition-%03zu\n",
            i, i);
    ok(config_parse(&config, "worst", text, strlen(text), &err) == 0,
       "a configuration of many policies and rules is read %s", err.text);
    free(text);
}

static struct job *a_job(void)
{
    const struct config_policy *policy = config_policy_find(&config, "policy-with-a-long-name-000");
    struct job *j = job_new(&(struct job_id){ .uid = 1000, .job = UINT32_MAX - 1 }, policy, 0);
    struct audit_entry e = an_entry();
    double now_s = controller_now_s();

    j->trust = JOB_CONFIRMED;
    j->state = JOB_RUNNING;
    snprintf(j->text_id, sizeof(j->text_id), "%u.0", j->id.job);
    full_text(j->name, sizeof(j->name));
    full_text(j->user, sizeof(j->user));
    full_text(j->partition, sizeof(j->partition));
    snprintf(j->policy, sizeof(j->policy), "%s", policy->name);
    full_text(j->placement.name, sizeof(j->placement.name));
    full_text(j->algorithm.name, sizeof(j->algorithm.name));
    j->algorithm_looked = true;
    j->start_s = j->heard_s = now_s;
    for (uint32_t r = 0; r < VIEW_RANKS_MAX; r++)
        view_rank_add(j->view, r, 0, "node", NULL);
    controls_add(s.controls, j, policy, now_s);
    for (size_t i = 0; i < JOB_DECISIONS; i++)
        control_keep(j->control, &e);
    for (size_t i = 0; i < JOB_NOTES_MAX; i++) {
        char node[64], text[512];

        full_text(node, sizeof(node));
        full_text(text, sizeof(text));
        text[0] = (char)('0' + i);
        job_note(j, node, text);
    }
    for (size_t i = 0; i < EVENT_LIST_MAX; i++) {
        char key[96], text[512];

        full_text(text, sizeof(text));
        snprintf(key, sizeof(key), "%zu", i);
        event_list_put(&j->events, now_s, key, text);
    }
    for (size_t i = 0; i < JOB_AGENTS_MAX; i++) {
        char node[64];
        struct job_agent *a;

        full_text(node, sizeof(node));
        snprintf(node, 6, "%05zu", i);
        node[5] = FULL;
        a = job_agent_get(j, node);
        full_text(a->switch_name, sizeof(a->switch_name));
        full_text(a->version, sizeof(a->version));
        a->cpu_ratio = a->rss_bytes = a->backlog_bytes = a->lost_batches = 1 / 3.0;
        memset(&a->paced, FULL, sizeof(a->paced));
        END(a->paced.mode);
        END(a->paced.lever);
        a->paced.known = true;
        a->paced.n_levers = REPORT_LEVERS_MAX;
        for (size_t k = 0; k < REPORT_LEVERS_MAX; k++) {
            END(a->paced.levers[k].lever);
            END(a->paced.levers[k].why);
        }
    }
    return j;
}

static void begin(void)
{
    struct err err = { "" };

    full_text(full, sizeof(full));
    fill_verdicts();
    configure();
    s.base = event_base_new();
    s.config = config;
    s.bounds = bounds_new();
    bounds_configure(s.bounds, &s.config);
    s.history = history_new(NULL);
    s.audit = audit_open(config.state_dir, &err);
    query_actions_start(&s);
    s.controls = controls_new(&s, &s.config, &err);
    jobs_add(&s.jobs, a_job());
    while (s.jobs.n < JOBS_MAX)
        jobs_add(&s.jobs, s.jobs.job[0]);
}

/* ---- the questions ---- */

#define JOB      "\"job\":4294967294"
#define VIEW_ALL "\"view\":{\"picture\":64,\"switches\":256}"

/* The sizes are those of the table in doc/protocol.md. */
static const struct {
    const char *question;
    size_t most_kib;
    enum { WHOLE, CUT } lists;
    bool over, many; /* of the job when it has ended; of as many such jobs as there may be */
} questions[] = {
    { "{\"query\":\"status\"}", 4, WHOLE, 0, 0 },
    { "{\"query\":\"jobs\"}", 768, WHOLE, 0, 1 },
    { "{\"query\":\"jobs\"}", 768, WHOLE, 1, 1 },
    { "{\"query\":\"job\"," JOB ",\"rows_later\":true,\"view\":{}}", 1024, WHOLE, 0, 0 },
    { "{\"query\":\"job\"," JOB ",\"rows_later\":true," VIEW_ALL "}", 1024, CUT, 0, 0 },
    { "{\"query\":\"job\"," JOB ",\"rows_later\":true," VIEW_ALL "}", 1024, CUT, 1, 0 },
    { "{\"query\":\"job\"," JOB "}", 1024, CUT, 0, 0 },
    { "{\"query\":\"rows\"," JOB ",\"list\":\"rank_table\"}", 512, WHOLE, 0, 0 },
    { "{\"query\":\"rows\"," JOB ",\"list\":\"heat.rows\"}", 512, WHOLE, 0, 0 },
    { "{\"query\":\"rows\"," JOB ",\"list\":\"agents\"}", 512, WHOLE, 0, 0 },
    { "{\"query\":\"rows\"," JOB ",\"list\":\"pace.nodes\"}", 512, WHOLE, 0, 0 },
    { "{\"query\":\"nodes\"}", 768, WHOLE, 0, 0 },
    { "{\"query\":\"node\",\"node\":\"n1\"}", 256, WHOLE, 0, 0 },
    { "{\"query\":\"scaling\"," JOB "}", 32, WHOLE, 0, 0 },
    { "{\"query\":\"strategies\"," JOB "}", 32, WHOLE, 0, 0 },
    { "{\"query\":\"step\"," JOB "}", 768, WHOLE, 0, 0 },
    { "{\"query\":\"lemons\"}", 16, WHOLE, 0, 0 },
    { "{\"query\":\"earlier\",\"name\":\"x\",\"ranks\":8}", 4, WHOLE, 0, 0 },
    { "{\"query\":\"policy\"}", 256, WHOLE, 0, 0 },
    { "{\"query\":\"policy\",\"name\":\"policy-with-a-long-name-000\"}", 64, WHOLE, 0, 0 },
    { "{\"query\":\"control\",\"do\":\"pause\"," JOB "}", 512, WHOLE, 0, 0 },
    { "{\"query\":\"audit\",\"limit\":100000}", 768, WHOLE, 0, 0 },
    { "{\"query\":\"actions\",\"id\":1}", 16, WHOLE, 0, 0 },
    { "{\"query\":\"actions\",\"limit\":100000}", 896, WHOLE, 0, 1 },
};

static void ask(size_t at)
{
    static struct query_order *order;
    const char *what = questions[at].question;
    /* order: of the answer with rows_later, for "rows" */
    struct peer p = { .controller = &s, .order = order };
    json_t *q = json_loads(what, 0, NULL);
    char *cut;

    over = questions[at].over;
    s.jobs.n = questions[at].many ? JOBS_MAX : 1;
    query_answer(&p, q);
    order = p.order;
    over = false;
    cut = json_dumps(json_get_object(sent, "cut"), JSON_COMPACT);
    printf("# %zu bytes%s%s\n", sent_bytes, cut ? ", cut: " : "", cut ? cut : "");
    ok(sent && !json_get_string(sent, "error") && sent_bytes <= questions[at].most_kib << 10 &&
           sent_bytes <= LINK_FRAME_MAX,
       "%s: the answer has at most %zu KiB %s", what, questions[at].most_kib, json_get_word(sent, "error"));
    ok(!cut == (questions[at].lists == WHOLE) && json_get_count(sent, "left_out") < 0, "%s: its lists are %s",
       what, questions[at].lists == WHOLE ? "whole" : "cut");
    free(cut);
    json_decref(q);
}

int main(void)
{
    if (SANITIZED)
        return skip_all(
            "the longest answers take a sanitizer a quarter of an hour, and the build without tries them");
    begin();
    for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
        ask(i);
    return done_testing();
}
