#include "tests/workloads/trainer/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/xalloc.h"

/* Gradients are announced after this many rows of a layer, so that buckets need not wait for a whole layer.
 */
enum { ROWS_A_NOTICE = 32 };

struct model {
    struct model_shape shape;
    int width; /* context * embed: what enters the hidden layer */
    size_t count;
    float *parameters, *gradient;
    size_t w2, b2, w1, b1, emb; /* offsets, in the order in which their gradients are finished */
    float *x, *h, *y;           /* rows of a batch: input, hidden, odds; overwritten by their gradients */
    float *dh, *turned;
};

/* SplitMix64's finaliser (Steele, Lea, Flood 2014) over the three numbers. */
uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint64_t z = seed * 0x9e3779b97f4a7c15ull + stream * 0xd1342543de82ef95ull;

    for (int round = 0; round < 2; round++)
        z = hash_mix(z + index + 0x9e3779b97f4a7c15ull);
    return z;
}

double random_unit(uint64_t seed, uint64_t stream, uint64_t index)
{
    return (double)(random_bits(seed, stream, index) >> 11) * 0x1p-53;
}

/* c[rows][n] += a * b[k][n], where a(i, l) = a[i * a_row + l * a_col]; rows two by two, terms four by four,
 * to load each row of b half as often.  Every sum over l runs in the same order whatever the blocking does to
 * i. */
static void multiply(int rows, int n, int k, const float *a, size_t a_row, size_t a_col,
                     const float *restrict b, float *restrict c)
{
    for (int i = 0; i < rows; i += 2) {
        bool pair = i + 1 < rows;
        const float *a0 = a + (size_t)i * a_row, *a1 = pair ? a0 + a_row : a0;
        float *restrict c0 = c + (size_t)i * (size_t)n, *restrict c1 = c0 + n;
        int l = 0;

        for (; pair && l + 4 <= k; l += 4) {
            const float *restrict bl = b + (size_t)l * (size_t)n;
            float p0 = a0[(size_t)l * a_col], p1 = a0[(size_t)(l + 1) * a_col];
            float p2 = a0[(size_t)(l + 2) * a_col], p3 = a0[(size_t)(l + 3) * a_col];
            float q0 = a1[(size_t)l * a_col], q1 = a1[(size_t)(l + 1) * a_col];
            float q2 = a1[(size_t)(l + 2) * a_col], q3 = a1[(size_t)(l + 3) * a_col];

            for (int j = 0; j < n; j++) {
                float r0 = bl[j], r1 = bl[j + n], r2 = bl[j + 2 * n], r3 = bl[j + 3 * n];

                c0[j] += p0 * r0 + p1 * r1 + p2 * r2 + p3 * r3;
                c1[j] += q0 * r0 + q1 * r1 + q2 * r2 + q3 * r3;
            }
        }
        for (; l < k; l++) {
            const float *restrict bl = b + (size_t)l * (size_t)n;

            for (int j = 0; j < n; j++)
                c0[j] += a0[(size_t)l * a_col] * bl[j];
            for (int j = 0; pair && j < n; j++)
                c1[j] += a1[(size_t)l * a_col] * bl[j];
        }
    }
}

static void turn(int rows, int columns, const float *from, float *to)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            to[j * rows + i] = from[i * columns + j];
}

static void repeat_row(int rows, int n, const float *row, float *out)
{
    for (int i = 0; i < rows; i++)
        memcpy(out + (size_t)i * (size_t)n, row, (size_t)n * sizeof(float));
}

static void sum_rows(int rows, int n, const float *in, float *restrict sum)
{
    memset(sum, 0, (size_t)n * sizeof(float));
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            sum[j] += in[(size_t)i * (size_t)n + (size_t)j];
}

/* Uniform in +-sqrt(3 / inputs): unit variance behind each layer (Glorot & Bengio 2010). */
static void draw(float *p, size_t n, int inputs, uint64_t seed, uint64_t stream)
{
    double bound = sqrt(3.0 / inputs);

    for (size_t i = 0; i < n; i++)
        p[i] = (float)(bound * (2 * random_unit(seed, stream, i) - 1));
}

struct model *model_new(const struct model_shape *shape, int max_batch, uint64_t seed)
{
    struct model *m = xcalloc(1, sizeof(*m));
    size_t v = (size_t)shape->symbols, h = (size_t)shape->hidden, rows = (size_t)max_batch;
    size_t w = (size_t)shape->context * (size_t)shape->embed;

    m->shape = *shape;
    m->width = (int)w;
    m->b2 = h * v;
    m->w1 = m->b2 + v;
    m->b1 = m->w1 + w * h;
    m->emb = m->b1 + h;
    m->count = m->emb + v * (size_t)shape->embed;
    m->parameters = xcalloc(m->count, sizeof(float));
    m->gradient = xcalloc(m->count, sizeof(float));
    m->x = xcalloc(rows * w, sizeof(float));
    m->h = xcalloc(rows * h, sizeof(float));
    m->dh = xcalloc(rows * h, sizeof(float));
    m->y = xcalloc(rows * v, sizeof(float));
    m->turned = xcalloc(h * (w > v ? w : v), sizeof(float));
    draw(m->parameters + m->w1, w * h, m->width, seed, 1);
    draw(m->parameters + m->emb, v * (size_t)shape->embed, 3, seed, 2);
    /* The output layer starts small: the first loss is the logarithm of the number of symbols. */
    draw(m->parameters + m->w2, h * v, shape->hidden * 16, seed, 3);
    return m;
}

void model_free(struct model *m)
{
    if (!m)
        return;
    free(m->parameters);
    free(m->gradient);
    free(m->x);
    free(m->h);
    free(m->dh);
    free(m->y);
    free(m->turned);
    free(m);
}

size_t model_count(const struct model *m)
{
    return m->count;
}

float *model_parameters(struct model *m)
{
    return m->parameters;
}

float *model_gradient(struct model *m)
{
    return m->gradient;
}

/* Leaves the scores of every symbol in m->y. */
static void scores(struct model *m, int rows, const unsigned char *input)
{
    const float *p = m->parameters;
    int embed = m->shape.embed, hidden = m->shape.hidden, symbols = m->shape.symbols;

    for (int i = 0; i < rows * m->shape.context; i++)
        memcpy(m->x + i * embed, p + m->emb + input[i] * embed, (size_t)embed * sizeof(float));
    repeat_row(rows, hidden, p + m->b1, m->h);
    multiply(rows, hidden, m->width, m->x, (size_t)m->width, 1, p + m->w1, m->h);
    for (int i = 0; i < rows * hidden; i++)
        m->h[i] = tanhf(m->h[i]);
    repeat_row(rows, symbols, p + m->b2, m->y);
    multiply(rows, symbols, hidden, m->h, (size_t)hidden, 1, p + m->w2, m->y);
}

/* Scores to odds, in place. */
static void softmax(float *y, int n)
{
    float top = y[0], sum = 0;

    for (int j = 1; j < n; j++)
        top = fmaxf(top, y[j]);
    for (int j = 0; j < n; j++)
        sum += y[j] = expf(y[j] - top);
    for (int j = 0; j < n; j++)
        y[j] /= sum;
}

double model_forward(struct model *m, const struct batch *b)
{
    double loss = 0;

    scores(m, b->n, b->input);
    for (int i = 0; i < b->n; i++) {
        float *y = m->y + i * m->shape.symbols;

        softmax(y, m->shape.symbols);
        loss -= log(fmax((double)y[b->target[i]], 1e-30));
    }
    return loss / b->n;
}

/* gradient of a layer's weights, in[rows][width] turned times out[rows][n], a few of its rows at a time. */
static void layer_gradient(struct model *m, size_t offset, int rows, int width, int n, const float *in,
                           const float *out, model_ready_fn *ready, void *arg)
{
    for (int i = 0; i < width; i += ROWS_A_NOTICE) {
        int some = width - i < ROWS_A_NOTICE ? width - i : ROWS_A_NOTICE;
        float *g = m->gradient + offset + (size_t)i * (size_t)n;

        memset(g, 0, (size_t)some * (size_t)n * sizeof(float));
        multiply(some, n, rows, in + i, 1, (size_t)width, out, g);
        ready(arg, offset + (size_t)(i + some) * (size_t)n);
    }
}

void model_backward(struct model *m, const struct batch *b, float scale, model_ready_fn *ready, void *arg)
{
    int rows = b->n, hidden = m->shape.hidden, symbols = m->shape.symbols, embed = m->shape.embed;
    float *g = m->gradient, *dx = m->x;

    for (int i = 0; i < rows; i++)
        m->y[i * symbols + b->target[i]] -= 1;
    for (int i = 0; i < rows * symbols; i++)
        m->y[i] *= scale / (float)rows;
    layer_gradient(m, m->w2, rows, hidden, symbols, m->h, m->y, ready, arg);
    sum_rows(rows, symbols, m->y, g + m->b2);
    ready(arg, m->w1);

    turn(hidden, symbols, m->parameters + m->w2, m->turned);
    memset(m->dh, 0, (size_t)rows * (size_t)hidden * sizeof(float));
    multiply(rows, hidden, symbols, m->y, (size_t)symbols, 1, m->turned, m->dh);
    for (int i = 0; i < rows * hidden; i++)
        m->dh[i] *= 1 - m->h[i] * m->h[i];
    layer_gradient(m, m->w1, rows, m->width, hidden, m->x, m->dh, ready, arg);
    sum_rows(rows, hidden, m->dh, g + m->b1);
    ready(arg, m->emb);

    turn(m->width, hidden, m->parameters + m->w1, m->turned);
    memset(dx, 0, (size_t)rows * (size_t)m->width * sizeof(float));
    multiply(rows, m->width, hidden, m->dh, (size_t)hidden, 1, m->turned, dx);
    memset(g + m->emb, 0, (size_t)(symbols * embed) * sizeof(float));
    for (int i = 0; i < rows * m->shape.context; i++)
        for (int e = 0; e < embed; e++)
            g[m->emb + (size_t)(b->input[i] * embed + e)] += dx[i * embed + e];
    ready(arg, m->count);
}

int model_next(struct model *m, const unsigned char *last, double temperature, double u)
{
    int n = m->shape.symbols, s = 0;

    scores(m, 1, last);
    for (int j = 0; j < n; j++)
        m->y[j] /= (float)temperature;
    softmax(m->y, n);
    for (; s < n - 1 && u >= (double)m->y[s]; s++)
        u -= (double)m->y[s];
    return s;
}
