/* Whatever a controller answers: parsed as every kind of answer, filtered, sorted and drawn at two sizes. */
#include <locale.h>
#include <stdint.h>
#include <string.h>

#include "tui/frame.h"
#include "tui/ui.h"
#include "tui/user_action.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void draw(struct ui *ui, int width, int height, bool ascii)
{
    struct canvas *c = canvas_new(width, height, ascii);

    ui_fit(ui, width, height);
    frame_draw(c, ui);
    canvas_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *answer = json_loadb((const char *)data, size, 0, NULL);

    if (!answer)
        return 0;
    setlocale(LC_ALL, "C.UTF-8");
    for (int s = 0; s < SCREENS; s++) {
        struct ui ui;

        ui_init(&ui);
        ui_link_changed(&ui, true, NULL);
        ui_answer_status(&ui, answer);
        if (s == SCREEN_JOB)
            ui_open(&ui, "1.0");
        ui.screen = (enum screen)s;
        ui_fit(&ui, 80, 24);
        ui_answer(&ui, (enum screen)s, &(struct ui_asked){ 0 }, answer);
        draw(&ui, 80, 24, true);
        for (const char *key = "GsssjjrS/n\n\nvGkcf"; *key; key++)
            ui_key(&ui, *key);
        draw(&ui, 200, 50, false);
        ui_key(&ui, 'v');
        draw(&ui, 80, 24, true);
        ui_key(&ui, 'v');
        draw(&ui, 120, 40, false);
        draw(&ui, 7, 3, false);
        ui.report = true;
        draw(&ui, 12, 9, false);
        ui.report = false;
        ui_key(&ui, 'p');
        draw(&ui, 80, 24, true);
        draw(&ui, 7, 3, false);
        for (const char *key = "XyCyAyPyZn"; *key; key++) {
            json_t *question = user_action_question(&ui);

            if (question)
                user_action_answer(&ui, answer);
            json_decref(question);
            ui_key(&ui, *key);
        }
        draw(&ui, 80, 24, false);
        for (const char *key = "xt"; *key; key++) {
            ui_key(&ui, *key);
            draw(&ui, 80, 24, true);
            draw(&ui, 200, 50, false);
            draw(&ui, 7, 3, false);
        }
        ui_reset(&ui);
    }
    json_decref(answer);
    return 0;
}
