#include "tests/workloads/shared/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "tests/workloads/shared/random.h"

/* Gradients are announced after this many rows of a layer, so that buckets need not wait for a whole layer.
 */
enum { ROWS_A_NOTICE = 32 };

struct layer {
    int in, out; /* numbers a row */
    size_t at;   /* of in * out weights and out biases in the parameters */
};

struct model {
    struct model_shape shape;
    struct model_part part;
    struct layer layer[MODEL_LAYERS_MAX + 1]; /* those of the part, the lowest first */
    int layers, slots;
    size_t embedding, count; /* embedding: its place in the parameters, their number if the part has none */
    float *parameters, *velocity, *gradient;
    float **
        /* of slot s: rows[s * (layers + 1) + l] enters layer l, its output is the next; overwritten by
           gradients */
        rows;
    float *scratch, *turned;
};

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

/* Streams of random_bits. */
enum { FIRST_LAYER = 1, EMBEDDING, OUTPUT, FURTHER_LAYERS = 6 };

static void draw_layer(struct model *m, const struct layer *l, int number, uint64_t seed)
{
    float *weights = m->parameters + l->at;
    size_t n = (size_t)l->in * (size_t)l->out;

    /* The output layer starts small: the first loss is the logarithm of the number of symbols. */
    if (number == m->shape.layers)
        draw(weights, n, l->in * 16, seed, OUTPUT);
    else
        draw(weights, n, l->in, seed, number ? FURTHER_LAYERS + (uint64_t)number : FIRST_LAYER);
}

static size_t largest(size_t a, size_t b)
{
    return a > b ? a : b;
}

struct model_part model_whole(const struct model_shape *shape)
{
    return (struct model_part){ 0, shape->layers + 1 };
}

struct model *model_new(const struct model_shape *shape, struct model_part part, int max_batch, int slots,
                        uint64_t seed)
{
    struct model *m = xcalloc(1, sizeof(*m));
    size_t rows = (size_t)max_batch, widest = 0, weights = 0;

    m->shape = *shape;
    m->part = part;
    m->layers = part.end - part.first;
    m->slots = slots;
    for (int number = part.end - 1; number >= part.first; number--) {
        struct layer *l = &m->layer[number - part.first];

        l->in = number ? shape->hidden : shape->context * shape->embed;
        l->out = number < shape->layers ? shape->hidden : shape->symbols;
        l->at = m->count;
        m->count += (size_t)(l->in + 1) * (size_t)l->out;
        widest = largest(widest, (size_t)l->in);
        weights = largest(weights, (size_t)l->in * (size_t)l->out);
    }
    m->embedding = m->count;
    if (part.first == 0)
        m->count += (size_t)shape->symbols * (size_t)shape->embed;
    m->parameters = xcalloc(m->count, sizeof(float));
    m->velocity = xcalloc(m->count, sizeof(float));
    m->gradient = xcalloc(m->count, sizeof(float));
    m->scratch = xcalloc(rows * widest, sizeof(float));
    m->turned = xcalloc(weights, sizeof(float));
    m->rows = xcalloc((size_t)(slots * (m->layers + 1)), sizeof(*m->rows));
    for (int i = 0; i < slots * (m->layers + 1); i++) {
        int l = i % (m->layers + 1);

        m->rows[i] =
            xcalloc(rows * (size_t)(l < m->layers ? m->layer[l].in : m->layer[l - 1].out), sizeof(float));
    }
    for (int l = 0; l < m->layers; l++)
        draw_layer(m, &m->layer[l], part.first + l, seed);
    draw(m->parameters + m->embedding, m->count - m->embedding, 3, seed, EMBEDDING);
    return m;
}

void model_free(struct model *m)
{
    if (!m)
        return;
    for (int i = 0; i < m->slots * (m->layers + 1); i++)
        free(m->rows[i]);
    free(m->rows);
    free(m->parameters);
    free(m->velocity);
    free(m->gradient);
    free(m->scratch);
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

float *model_velocity(struct model *m)
{
    return m->velocity;
}

float *model_gradient(struct model *m)
{
    return m->gradient;
}

float *model_below(struct model *m, int slot)
{
    return m->rows[slot * (m->layers + 1)];
}

float *model_above(struct model *m, int slot)
{
    return m->rows[slot * (m->layers + 1) + m->layers];
}

static bool is_output(const struct model *m, int layer)
{
    return m->part.first + layer == m->shape.layers;
}

/* Leaves the output of every layer in the slot; of the output layer, the scores of every symbol. */
static void compute(struct model *m, int slot, int rows, const unsigned char *input)
{
    float **x = &m->rows[slot * (m->layers + 1)];
    int embed = m->shape.embed;

    for (int i = 0; m->part.first == 0 && i < rows * m->shape.context; i++)
        memcpy(x[0] + i * embed, m->parameters + m->embedding + input[i] * embed,
               (size_t)embed * sizeof(float));
    for (int i = 0; i < m->layers; i++) {
        const struct layer *l = &m->layer[i];
        const float *weights = m->parameters + l->at;
        float *out = x[i + 1];

        repeat_row(rows, l->out, weights + (size_t)l->in * (size_t)l->out, out);
        multiply(rows, l->out, l->in, x[i], (size_t)l->in, 1, weights, out);
        for (int j = 0; !is_output(m, i) && j < rows * l->out; j++)
            out[j] = tanhf(out[j]);
    }
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

void model_forward(struct model *m, int slot, const struct batch *b, double *loss)
{
    int symbols = m->shape.symbols;

    compute(m, slot, b->n, b->input);
    for (int i = 0; is_output(m, m->layers - 1) && i < b->n; i++) {
        float *y = model_above(m, slot) + i * symbols;

        softmax(y, symbols);
        *loss -= log(fmax((double)y[b->target[i]], 1e-30));
    }
}

static void ignore(void *arg, size_t front)
{
    (void)arg;
    (void)front;
}

/* Of a layer's weights: in[rows][width] turned times out[rows][n], a few of its rows at a time; then of its
 * biases. */
static void layer_gradient(struct model *m, const struct layer *l, int rows, const float *in,
                           const float *out, model_ready_fn *ready, void *arg)
{
    float *g = m->gradient + l->at;

    for (int i = 0; i < l->in; i += ROWS_A_NOTICE) {
        int some = l->in - i < ROWS_A_NOTICE ? l->in - i : ROWS_A_NOTICE;

        multiply(some, l->out, rows, in + i, 1, (size_t)l->in, out, g);
        g += (size_t)some * (size_t)l->out;
        ready(arg, (size_t)(g - m->gradient));
    }
    sum_rows(rows, l->out, out, g);
    ready(arg, (size_t)(g + l->out - m->gradient));
}

/* The gradient of what enters a layer in place of it: out[rows][n] times the weights turned.  What another
 * layer put out passed through tanh, whose derivative it has in it. */
static void pass_down(struct model *m, const struct layer *l, int rows, bool through_tanh, const float *out,
                      float *in)
{
    float *to = through_tanh ? m->scratch : in;

    turn(l->in, l->out, m->parameters + l->at, m->turned);
    memset(to, 0, (size_t)rows * (size_t)l->in * sizeof(float));
    multiply(rows, l->in, l->out, out, (size_t)l->out, 1, m->turned, to);
    for (int i = 0; through_tanh && i < rows * l->in; i++)
        in[i] = to[i] * (1 - in[i] * in[i]);
}

void model_backward(struct model *m, int slot, const struct batch *b, float scale, model_ready_fn *ready,
                    void *arg)
{
    float **x = &m->rows[slot * (m->layers + 1)], *y = model_above(m, slot);
    int symbols = m->shape.symbols, embed = m->shape.embed;

    ready = ready ? ready : ignore;
    if (is_output(m, m->layers - 1)) {
        for (int i = 0; i < b->n; i++)
            y[i * symbols + b->target[i]] -= 1;
        for (int i = 0; i < b->n * symbols; i++)
            y[i] *= scale;
    }
    for (int i = m->layers - 1; i >= 0; i--) {
        layer_gradient(m, &m->layer[i], b->n, x[i], x[i + 1], ready, arg);
        pass_down(m, &m->layer[i], b->n, m->part.first + i > 0, x[i + 1], x[i]);
    }
    if (m->part.first > 0)
        return;
    for (int i = 0; i < b->n * m->shape.context; i++)
        for (int e = 0; e < embed; e++)
            m->gradient[m->embedding + (size_t)(b->input[i] * embed + e)] += x[0][i * embed + e];
    ready(arg, m->count);
}

void model_clear_gradient(struct model *m)
{
    memset(m->gradient, 0, m->count * sizeof(float));
}

void model_update(struct model *m, float rate, float momentum)
{
    float *restrict p = m->parameters, *restrict v = m->velocity;

    for (size_t i = 0; i < m->count; i++) {
        v[i] = momentum * v[i] + m->gradient[i];
        p[i] -= rate * v[i];
    }
}

int model_next(struct model *m, const unsigned char *last, double temperature, double u)
{
    int n = m->shape.symbols, s = 0;
    float *y = model_above(m, 0);

    compute(m, 0, 1, last);
    for (int j = 0; j < n; j++)
        y[j] /= (float)temperature;
    softmax(y, n);
    for (; s < n - 1 && u >= (double)y[s]; s++)
        u -= (double)y[s];
    return s;
}
