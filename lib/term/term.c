#include "term/term.h"

#include <curses.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "common/xalloc.h"

#define WHEEL_ROWS 3
/* maximum time between the bytes of one key or click (ssh, a busy host) */
#define ESCAPE_MS 100

/* How each style looks.  The middle of the 256 colours is readable on dark and on light grounds; bars and
 * labels have their own ground.  -1: the terminal's own. */
struct look {
    short fg256, bg256, fg8, bg8;
    attr_t colour, mono; /* attributes with and without colours */
};

static const struct look looks[STYLE_COUNT] = {
    [STYLE_TEXT] = { -1, -1, -1, -1, 0, 0 },
    [STYLE_DIM] = { 244, -1, -1, -1, 0, 0 },
    [STYLE_BOLD] = { -1, -1, -1, -1, A_BOLD, A_BOLD },
    [STYLE_TITLE] = { 255, 24, COLOR_WHITE, COLOR_BLUE, 0, A_REVERSE },
    [STYLE_TAB] = { 16, 153, COLOR_BLACK, COLOR_WHITE, A_BOLD, A_BOLD },
    [STYLE_HEADER] = { 255, 239, COLOR_BLACK, COLOR_CYAN, 0, A_UNDERLINE },
    [STYLE_SORTED] = { 229, 239, COLOR_WHITE, COLOR_CYAN, A_BOLD, A_UNDERLINE | A_BOLD },
    [STYLE_KEY] = { 32, -1, COLOR_CYAN, -1, A_BOLD, A_BOLD },
    [STYLE_ACCENT] = { 32, -1, COLOR_CYAN, -1, 0, 0 },
    [STYLE_GOOD] = { 34, -1, COLOR_GREEN, -1, 0, 0 },
    [STYLE_WARN] = { 172, -1, COLOR_YELLOW, -1, A_BOLD, A_BOLD },
    [STYLE_BAD] = { 196, -1, COLOR_RED, -1, A_BOLD, A_BOLD },
    [STYLE_GOOD_TAG] = { 231, 28, COLOR_BLACK, COLOR_GREEN, A_BOLD, A_REVERSE },
    [STYLE_WARN_TAG] = { 16, 214, COLOR_BLACK, COLOR_YELLOW, A_BOLD, A_REVERSE | A_BOLD },
    [STYLE_BAD_TAG] = { 231, 160, COLOR_WHITE, COLOR_RED, A_BOLD, A_REVERSE | A_BOLD },
    [STYLE_SHARE_COMPUTE] = { 34, -1, COLOR_GREEN, -1, 0, 0 },
    [STYLE_SHARE_COMMUNICATION] = { 32, -1, COLOR_CYAN, -1, 0, 0 },
    [STYLE_SHARE_SYNCHRONISATION] = { 202, -1, COLOR_RED, -1, 0, 0 },
    [STYLE_SHARE_P2P] = { 133, -1, COLOR_MAGENTA, -1, 0, 0 },
    [STYLE_HANG] = { 196, -1, COLOR_RED, -1, A_BOLD, A_BOLD },
    [STYLE_STRAGGLER] = { 202, -1, COLOR_RED, -1, 0, 0 },
    [STYLE_DRIFT] = { 172, -1, COLOR_YELLOW, -1, 0, 0 },
    [STYLE_JITTER] = { 133, -1, COLOR_MAGENTA, -1, 0, 0 },
    [STYLE_IMBALANCE] = { 70, -1, COLOR_GREEN, -1, 0, 0 },
    [STYLE_COMMUNICATION] = { 32, -1, COLOR_CYAN, -1, 0, 0 },
    [STYLE_CONGESTION] = { 37, -1, COLOR_CYAN, -1, A_BOLD, 0 },
    [STYLE_OSCILLATION] = { 99, -1, COLOR_BLUE, -1, A_BOLD, 0 },
    [STYLE_HEAT + 0] = { 244, -1, -1, -1, 0, 0 },
    [STYLE_HEAT + 1] = { 66, -1, COLOR_CYAN, -1, 0, 0 },
    [STYLE_HEAT + 2] = { 30, -1, COLOR_CYAN, -1, 0, 0 },
    [STYLE_HEAT + 3] = { 36, -1, COLOR_CYAN, -1, 0, 0 },
    [STYLE_HEAT + 4] = { 70, -1, COLOR_GREEN, -1, 0, 0 },
    [STYLE_HEAT + 5] = { 178, -1, COLOR_YELLOW, -1, 0, 0 },
    [STYLE_HEAT + 6] = { 208, -1, COLOR_YELLOW, -1, A_BOLD, 0 },
    [STYLE_HEAT + 7] = { 202, -1, COLOR_RED, -1, 0, 0 },
    [STYLE_HEAT + 8] = { 196, -1, COLOR_RED, -1, A_BOLD, A_BOLD },
};

static struct {
    SCREEN *screen;
    WINDOW *input; /* a pad: reading a key from a window would refresh it behind the main loop's back */
    int colours;   /* 0, 8 or 256 */
    struct canvas *last;
} term;

/* ---- crashes ---- */

static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
static struct termios saved;
static char restore[256];
static size_t restore_bytes;

/* Terminal strings without their padding ("$<5>"), which only tputs understands. */
static void add_restore(const char *s)
{
    if (!s || s == (const char *)-1)
        return;
    while (*s && restore_bytes + 1 < sizeof(restore)) {
        const char *end = s[0] == '$' && s[1] == '<' ? strchr(s, '>') : NULL;

        if (end)
            s = end + 1;
        else
            restore[restore_bytes++] = *s++;
    }
}

/* Only calls that are safe in a signal's handler. */
static void on_crash(int sig)
{
    if (write(STDOUT_FILENO, restore, restore_bytes) < 0)
        restore_bytes = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &saved);
    raise(sig); /* SA_RESETHAND has restored the default action */
}

/* ---- opening and closing ---- */

static void init_colours(bool mono)
{
    const char *no_color = getenv("NO_COLOR");

    term.colours = 0;
    if (mono || (no_color && no_color[0]) || !has_colors() || start_color() == ERR)
        return;
    if (COLORS < 8 || COLOR_PAIRS <= STYLE_COUNT || use_default_colors() == ERR)
        return;
    term.colours = COLORS >= 256 ? 256 : 8;
    for (short i = 0; i < STYLE_COUNT; i++) {
        const struct look *l = &looks[i];

        if (term.colours == 256)
            init_pair((short)(i + 1), l->fg256, l->bg256);
        else
            init_pair((short)(i + 1), l->fg8, l->bg8);
    }
}

/* All of its events, though few mean something here: after one that was not asked for, ncurses waits for the
 * next key inside of wget_wch, nodelay or not. */
static void take_mouse(void)
{
    mousemask(ALL_MOUSE_EVENTS, NULL);
}

bool term_can_draw(void)
{
    const char *place;
    int found;

    if (setupterm(NULL, STDOUT_FILENO, &found) == ERR)
        return true;
    place = tigetstr("cup");
    del_curterm(cur_term);
    return place && place != (const char *)-1;
}

int term_open(bool mono, struct err *err)
{
    struct sigaction sa = { .sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND | SA_NODEFER };
    const char *name = getenv("TERM");

    tcgetattr(STDIN_FILENO, &saved);
    term.screen = newterm(NULL, stdout, stdin);
    if (!term.screen)
        return err_set(err, "the terminal type TERM=%s is not known here (TERM=xterm often does)",
                       name ? name : "");
    cbreak();
    noecho();
    nonl();
    curs_set(0);
    set_escdelay(ESCAPE_MS);
    init_colours(mono);
    term.input = newpad(1, 1);
    keypad(term.input, TRUE);
    nodelay(term.input, TRUE);
    mouseinterval(0); /* a press counts at once; the main loop detects double clicks */
    take_mouse();
    restore_bytes = 0;
    add_restore(tigetstr("sgr0"));
    add_restore("\033[?1006l\033[?1000l");
    add_restore(tigetstr("cnorm"));
    add_restore(tigetstr("rmcup"));
    add_restore(tigetstr("rmkx"));
    for (size_t i = 0; i < ARRAY_SIZE(crashes); i++)
        sigaction(crashes[i], &sa, NULL);
    atexit(term_close);
    return 0;
}

void term_close(void)
{
    if (!term.screen)
        return;
    mousemask(0, NULL);
    endwin();
    delwin(term.input);
    delscreen(term.screen);
    canvas_free(term.last);
    memset(&term, 0, sizeof(term));
    for (size_t i = 0; i < ARRAY_SIZE(crashes); i++)
        signal(crashes[i], SIG_DFL);
}

void term_suspend(void)
{
    mousemask(0, NULL);
    def_prog_mode();
    endwin();
}

void term_resume(void)
{
    reset_prog_mode();
    take_mouse();
    term_resized();
    term_repaint();
}

/* ---- showing ---- */

void term_size(int *width, int *height)
{
    getmaxyx(stdscr, *height, *width);
}

void term_resized(void)
{
    struct winsize ws;

    if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_row && ws.ws_col)
        resizeterm(ws.ws_row, ws.ws_col);
    term_repaint();
}

void term_repaint(void)
{
    canvas_free(term.last);
    term.last = NULL;
    clearok(curscr, TRUE);
    erase();
}

static void show_cell(int y, int x, const struct cell *cell)
{
    /* Under the cursor only what is good or bad keeps its colour: a bar of many colours is no bar. */
    bool plain = cell->reversed && (cell->style < STYLE_GOOD || cell->style > STYLE_BAD);
    enum style style = plain ? STYLE_TEXT : (enum style)cell->style;
    const struct look *l = &looks[style];
    attr_t reverse = cell->reversed ? A_REVERSE : 0;
    wchar_t text[2] = { (wchar_t)cell->ch, 0 };
    cchar_t c;

    if (!cell->ch)
        return;
    if (term.colours == 8 && style == STYLE_DIM)
        reverse |= A_DIM;
    if (term.colours)
        setcchar(&c, text, l->colour | reverse, (short)(style + 1), NULL);
    else
        setcchar(&c, text, l->mono | reverse, 0, NULL);
    mvadd_wch(y, x, &c);
}

bool term_show(const struct canvas *c)
{
    size_t n = (size_t)c->width * (size_t)c->height;
    const struct canvas *last = term.last;
    bool all = !last || last->width != c->width || last->height != c->height;

    if (!all && !memcmp(last->cells, c->cells, n * sizeof(*c->cells)))
        return false;
    for (size_t i = 0; i < n; i++)
        if (all || memcmp(&last->cells[i], &c->cells[i], sizeof(*c->cells)) != 0)
            show_cell((int)(i / (size_t)c->width), (int)(i % (size_t)c->width), &c->cells[i]);
    wnoutrefresh(stdscr);
    doupdate();
    if (all) {
        canvas_free(term.last);
        term.last = canvas_new(c->width, c->height, c->ascii);
    }
    memcpy(term.last->cells, c->cells, n * sizeof(*c->cells));
    return true;
}

/* ---- reading ---- */

static int key_of(wint_t code)
{
    static const struct {
        wint_t code;
        int key;
    } keys[] = {
        { KEY_UP, TERM_KEY_UP },       { KEY_DOWN, TERM_KEY_DOWN },     { KEY_LEFT, TERM_KEY_LEFT },
        { KEY_RIGHT, TERM_KEY_RIGHT }, { KEY_PPAGE, TERM_KEY_PAGE_UP }, { KEY_NPAGE, TERM_KEY_PAGE_DOWN },
        { KEY_HOME, TERM_KEY_HOME },   { KEY_END, TERM_KEY_END },       { KEY_BTAB, TERM_KEY_BACKTAB },
        { KEY_F(1), TERM_KEY_F1 },     { KEY_ENTER, TERM_KEY_ENTER },   { KEY_BACKSPACE, TERM_KEY_BACKSPACE },
    };

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (keys[i].code == code)
            return keys[i].key;
    return -1;
}

static bool read_mouse(struct term_input *in)
{
    MEVENT event;

    if (getmouse(&event) == ERR)
        return false;
    in->y = event.y;
    in->x = event.x;
    if (event.bstate & BUTTON4_PRESSED)
        in->wheel = -WHEEL_ROWS;
    else if (event.bstate & BUTTON5_PRESSED)
        in->wheel = WHEEL_ROWS;
    else
        return (event.bstate & BUTTON1_PRESSED) != 0;
    return true;
}

bool term_read(struct term_input *in)
{
    wint_t ch;
    int rc;

    for (;;) {
        memset(in, 0, sizeof(*in));
        rc = wget_wch(term.input, &ch);
        if (rc == ERR)
            return false;
        if (rc != KEY_CODE_YES) {
            in->key = (int)ch;
            return true;
        }
        if (ch == KEY_MOUSE && read_mouse(in))
            return true;
        if (ch == KEY_MOUSE)
            continue;
        in->key = key_of(ch);
        if (in->key > 0)
            return true;
    }
}
