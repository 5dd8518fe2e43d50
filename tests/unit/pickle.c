/* What Python's pickles mean as data, and that nothing else is done with them.  The instructions are written
 * out by hand; where python3 is there, its own pickle module writes some as well. */
#include "trace/pickle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "tests/tap.h"

static struct err err;

/* As JSON; "" where it is refused, with the reason in err. */
static char *as_json(const char *data, size_t bytes)
{
    json_t *value = pickle_read((const unsigned char *)data, bytes, &err);
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;

    json_decref(value);
    return text ? text : xstrdup("");
}

#define P(literal) literal, sizeof(literal) - 1

static const struct {
    const char *what, *data;
    size_t bytes;
    const char *json;
} values[] = {
    { "None", P("N."), "null" },
    { "booleans of protocol 2", P("\x80\x02(\x88\x89t."), "[true,false]" },
    { "booleans of protocol 0", P("(I01\nI00\nt."), "[true,false]" },
    { "whole numbers of protocol 0", P("(I-7\nL123456789012L\nI0\nt."), "[-7,123456789012,0]" },
    { "whole numbers of protocol 1", P("(K\xffM\x01\x02J\xff\xff\xff\xfft."), "[255,513,-1]" },
    { "long numbers",
      P("\x80\x02(\x8a\x00\x8a\x01\xff\x8a\x02\x00\x80\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7ft."),
      "[0,-1,-32768,9223372036854775807]" },
    { "a number of 9 bytes is a float", P("\x80\x02\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01."),
      "1.8446744073709552e19" },
    { "floats", P("(F1.5\nG\x3f\xf8\x00\x00\x00\x00\x00\x00t."), "[1.5,1.5]" },
    { "a float that is not finite is null",
      P("(G\x7f\xf0\x00\x00\x00\x00\x00\x00"
        "Fnan\nt."),
      "[null,null]" },
    { "text of protocols 0 to 2",
      P("(S'a\\'b\\x41'\nVc\\u00e9\nX\x02\x00\x00\x00xyU\x01zT\x01\x00\x00\x00wt."),
      "[\"a'bA\",\"c\xc3\xa9\",\"xy\",\"z\",\"w\"]" },
    { "text of protocol 4", P("\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00\x8c\x02hi\x94."), "\"hi\"" },
    { "text of 8 bytes' length", P("\x80\x04\x8d\x02\x00\x00\x00\x00\x00\x00\x00hi."), "\"hi\"" },
    { "bytes are text, and '?' where they are not UTF-8", P("\x80\x03(C\x02okB\x02\x00\x00\x00\xff\x41t."),
      "[\"ok\",\"?A\"]" },
    { "bytes with NUL, and '?' where they are not UTF-8 behind it",
      P("\x80\x03"
        "C\x05"
        "a\x00\xff\x00z."),
      "\"a\\u0000?\\u0000z\"" },
    { "a backslash that begins no escape is itself", P("(S'\\x-1'\nS'\\x 1'\nV\\u0x41\nV\\U00110000\nt."),
      "[\"\\\\x-1\",\"\\\\x 1\",\"\\\\u0x41\",\"\\\\U00110000\"]" },
    { "lists, one item and several",
      P("]q\x00(K\x01K\x02"
        "eK\x03"
        "a."),
      "[1,2,3]" },
    { "a list of protocol 0", P("(lp0\nI1\naI2\na."), "[1,2]" },
    { "tuples", P("\x80\x02()K\x01\x85K\x02K\x03\x86K\x04K\x05K\x06\x87(K\x07tt."),
      "[[],[1],[2,3],[4,5,6],[7]]" },
    { "a dictionary",
      P("}q\x00(U\x01"
        "aK\x01U\x01"
        "bNu."),
      "{\"a\":1,\"b\":null}" },
    { "a dictionary of protocol 0", P("(dp0\nVa\np1\nI1\ns."), "{\"a\":1}" },
    { "a dictionary of a mark",
      P("(U\x01"
        "aK\x01"
        "d."),
      "{\"a\":1}" },
    { "keys that are whole numbers", P("}(K\x07K\x01J\xff\xff\xff\xffK\x02u."), "{\"7\":1,\"-1\":2}" },
    { "sets", P("\x80\x04(\x8f(K\x01K\x02\x90(K\x03\x91t."), "[[1,2],[3]]" },
    { "a value that is remembered is used again", P("(U\x02hiq\x05h\x05r\x06\x00\x00\x00j\x06\x00\x00\x00t."),
      "[\"hi\",\"hi\",\"hi\"]" },
    { "MEMOIZE counts from 0",
      P("\x80\x04(\x8c\x01"
        "a\x94\x8c\x01"
        "b\x94h\x01h\x00t."),
      "[\"a\",\"b\",\"b\",\"a\"]" },
    { "what is put and got with text", P("(U\x01xp3\ng3\nt."), "[\"x\",\"x\"]" },
    { "POP, POP_MARK and DUP",
      P("(K\x01K\x02"
        "0(K\x03K\x04"
        "1"
        "2t."),
      "[1,1]" },
    { "POP takes a mark off", P("K\x01(0."), "1" },
    { "what follows STOP is not looked at", P("K\x01.cos\nsystem\n"), "1" },
};

static void check_values(void)
{
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        char *text = as_json(values[i].data, values[i].bytes);

        err.text[0] = *text ? '\0' : err.text[0];
        is_str(text, values[i].json, "a pickle: %s", values[i].what);
        if (!*text)
            printf("# %s\n", err.text);
        free(text);
    }
}

/* Each with a value on the stack that it could work on. */
static const struct {
    const char *name, *data;
    size_t bytes, at; /* at: where its instruction stands, from 1 on */
} refused[] = {
    { "GLOBAL", P("cos\nsystem\n(S'true'\ntR."), 1 },
    { "INST", P("(S'true'\nios\nsystem\n."), 10 },
    { "OBJ", P("(K\x01o."), 4 },
    { "REDUCE", P("K\x01(tR."), 5 },
    { "BUILD", P("}}b."), 3 },
    { "PERSID", P("P7\n."), 1 },
    { "BINPERSID", P("K\x01Q."), 3 },
    { "NEWOBJ", P("\x80\x02K\x01)\x81."), 6 },
    { "EXT1", P("\x80\x02\x82\x01."), 3 },
    { "EXT2", P("\x80\x02\x83\x01\x00."), 3 },
    { "EXT4", P("\x80\x02\x84\x01\x00\x00\x00."), 3 },
    { "NEWOBJ_EX", P("\x80\x04K\x01)}\x92."), 7 },
    { "STACK_GLOBAL", P("\x80\x04\x8c\x02os\x8c\x06system\x93."), 15 },
    { "NEXT_BUFFER", P("\x80\x05\x97."), 3 },
    { "READONLY_BUFFER", P("\x80\x05K\x01\x98."), 5 },
};

static void check_refused(void)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        char *text = as_json(refused[i].data, refused[i].bytes), want[160];

        snprintf(
            want, sizeof(want),
            "a pickle that is not read: %s at byte %zu: it could import, call or fetch something, and only "
            "data is read",
            refused[i].name, refused[i].at);
        is_str(*text ? text : err.text, want, "%s is refused with its byte", refused[i].name);
        free(text);
    }
}

static const struct {
    const char *what, *data;
    size_t bytes;
    const char *why;
} broken[] = {
    { "an empty file", P(""), "a pickle without an end: its 0 bytes have no STOP" },
    { "a pickle that ends too early", P("\x80\x02}q"),
      "BINPUT at byte 4: 1 bytes are expected and 0 are left" },
    { "a pickle without STOP", P("\x80\x02N"), "its 3 bytes have no STOP, so the file is not complete" },
    { "text longer than the file",
      P("X\xff\xff\xff\x7f"
        "a."),
      "BINUNICODE at byte 1: 2147483647 bytes are expected" },
    { "text of 2^64 bytes",
      P("\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
        "a."),
      "BINUNICODE8 at byte 1" },
    { "a frame beyond the end", P("\x80\x04\x95\xff\x00\x00\x00\x00\x00\x00\x00N."), "FRAME at byte 3" },
    { "a protocol that is not known", P("\x80\x06N."), "PROTO at byte 1: protocol 6" },
    { "no instruction", P("\x80\x02\xfe."), "no instruction at byte 3: 0xfe is none" },
    { "an empty stack", P("\x80\x02."), "STOP at byte 3: too few values" },
    { "a mark that is not there", P("K\x01t."), "TUPLE at byte 3: no mark" },
    { "a mark that is left", P("(K\x01."), "STOP at byte 4: a mark is left" },
    { "values below a mark", P("K\x01(\x85."), "TUPLE1 at byte 4: too few values" },
    { "a key without a value", P("}(K\x01u."), "SETITEMS at byte 5: a key without a value" },
    { "a key that is a list", P("}(]K\x01u."), "SETITEMS at byte 6: a key that is neither" },
    { "an item of a number",
      P("K\x01K\x02"
        "a."),
      "APPEND at byte 5: what it adds to is not a container" },
    { "an item of a dictionary",
      P("}K\x02"
        "a."),
      "APPEND at byte 4: what it adds to is not a list" },
    { "what was never remembered", P("h\x07."), "BINGET at byte 1: nothing was remembered under 7" },
    { "a memo number of 4 billion", P("Nr\xff\xff\xff\xff."), "LONG_BINPUT at byte 2: a memo number above" },
    { "a list in itself",
      P("]q\x00h\x00"
        "a."),
      "APPEND at byte 6: a container would contain itself" },
    { "lists in each other",
      P("]q\x00]q\x01h\x00"
        "a0h\x00h\x01"
        "a."),
      "APPEND at byte 15: a container changes that is part of another one" },
    { "a number without digits", P("I\n."), "INT at byte 1: a number of 0 characters" },
    { "letters as a number", P("Iseven\n."), "INT at byte 1: no number" },
    { "letters as a float", P("Fabc\n."), "FLOAT at byte 1: no number" },
    { "a float and more", P("F1.5x\n."), "FLOAT at byte 1: no number" },
    { "a long number of 200 bytes", P("\x8a\xc8."), "LONG1 at byte 1: a number of 200 bytes" },
    { "text without its quotes", P("Sabc\n."), "STRING at byte 1: text without its quotes" },
};

static void check_broken(void)
{
    for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
        char *text = as_json(broken[i].data, broken[i].bytes);

        ok(!*text && strstr(err.text, broken[i].why), "refused with place and reason: %s", broken[i].what);
        if (*text || !strstr(err.text, broken[i].why))
            printf("# expected ... %s ...\n# got      %s%s\n", broken[i].why, *text ? text : "", err.text);
        free(text);
    }
}

/* ---- what would grow without bounds ---- */

struct bytes {
    char *data;
    size_t n, cap;
};

static void add(struct bytes *b, const char *data, size_t n)
{
    b->data = xgrow(b->data, &b->cap, b->n + n, 1);
    memcpy(b->data + b->n, data, n);
    b->n += n;
}

static void check_bombs(void)
{
    struct bytes deep = { 0 }, laughs = { 0 }, copies = { 0 }, lists = { 0 };
    char *text;

    for (int i = 0; i < 100; i++)
        add(&deep, P("]"));
    for (int i = 0; i < 99; i++)
        add(&deep, P("a"));
    add(&deep, P("."));
    text = as_json(deep.data, deep.n);
    ok(!*text && strstr(err.text, "more than 64 containers inside of each other"),
       "100 lists in each other: %s", err.text);
    free(text);
    /* each list has the one before ten times: 10^20 values of 600 bytes */
    add(&laughs, P("]q\x00K\x01"
                   "a0"));
    for (char i = 1; i <= 20; i++) {
        add(&laughs, P("]q"));
        add(&laughs, &i, 1);
        add(&laughs, P("("));
        for (int j = 0; j < 10; j++) {
            char before = (char)(i - 1);

            add(&laughs, P("h"));
            add(&laughs, &before, 1);
        }
        add(&laughs, P("e"));
        if (i < 20)
            add(&laughs, P("0"));
    }
    add(&laughs, P("."));
    text = as_json(laughs.data, laughs.n);
    ok(!*text && strstr(err.text, "with repeated parts"), "lists of lists, ten times each: %s", err.text);
    free(text);
    add(&copies, P("(X\x10\x00\x00\x00"
                   "0123456789abcdef"));
    for (int i = 0; i < 1000; i++)
        add(&copies, P("2"));
    add(&copies, P("t."));
    text = as_json(copies.data, copies.n);
    ok(*text, "a thousand copies of a text are a thousand values");
    free(text);
    add(&lists, P("("));
    for (size_t i = 0; i < 100000; i++)
        add(&lists, P("}"));
    add(&lists, P("t."));
    text = as_json(lists.data, lists.n);
    ok(!*text && strstr(err.text, "of memory"), "a hundred thousand dictionaries of one byte each: %s",
       err.text);
    free(text);
    free(deep.data);
    free(laughs.data);
    free(copies.data);
    free(lists.data);
}

/* ---- what Python writes ---- */

static const char program[] =
    "import pickle,sys; frame={'name':'step','line':88}; "
    "sys.stdout.buffer.write(pickle.dumps({'version':'2.9','n':[0,-1,255,65536,2**40,-2**40,1.5,None,True],"
    "'t':((),(1,),(1,2),(1,2,3),(1,2,3,4)),'text':'gr\\u00fc\\u00dfe \\u2192 \\U0001f600','frames':[frame,frame],'b':b'raw','long':'x'*300,"
    "'many':list(range(1200)),'d':{str(i):i for i in range(1200)}},protocol=int(sys.argv[1])))";

static void check_python(void)
{
    for (int protocol = 0; protocol <= 5; protocol++) {
        struct bytes b = { 0 };
        char command[1200], part[4096];
        json_t *value, *frames;
        FILE *in;
        size_t n;

        snprintf(command, sizeof(command), "python3 -c \"%s\" %d 2>/dev/null", program, protocol);
        in = popen(command, "r");
        while (in && (n = fread(part, 1, sizeof(part), in)) > 0)
            add(&b, part, n);
        if (!in || pclose(in) != 0) {
            printf("# no python3, or one without protocol %d\n", protocol);
            free(b.data);
            continue;
        }
        /* below protocol 3 bytes are written as a call of a codec */
        value = pickle_read((unsigned char *)b.data, b.n, &err);
        if (protocol < 3) {
            ok(!value && strstr(err.text, "GLOBAL at byte"),
               "protocol %d: bytes are a call there, and refused", protocol);
            json_decref(value);
            free(b.data);
            continue;
        }
        frames = json_object_get(value, "frames");
        ok(value && json_array_size(json_object_get(value, "many")) == 1200 &&
               json_object_size(json_object_get(value, "d")) == 1200 &&
               json_array_get(frames, 0) == json_array_get(frames, 1) &&
               json_integer_value(json_array_get(json_object_get(value, "n"), 5)) == -(1LL << 40) &&
               !strcmp(json_string_value(json_object_get(value, "text")), "gr\xc3\xbc\xc3\x9f"
                                                                          "e \xe2\x86\x92 \xf0\x9f\x98\x80"),
           "protocol %d of Python's own pickle module is read", protocol);
        if (!value)
            printf("# %s\n", err.text);
        json_decref(value);
        free(b.data);
    }
}

int main(void)
{
    check_values();
    check_refused();
    check_broken();
    check_bombs();
    check_python();
    ok(pickle_begins((const unsigned char *)"\x80\x02", 2) && pickle_begins((const unsigned char *)"(d", 2) &&
           pickle_begins((const unsigned char *)"}q", 2) && !pickle_begins((const unsigned char *)"{\"", 2) &&
           !pickle_begins((const unsigned char *)"[1", 2) &&
           !pickle_begins((const unsigned char *)"\x80\x09", 2),
       "a pickle is told from JSON by its first bytes");
    return done_testing();
}
