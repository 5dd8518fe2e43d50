#include "gloo/inside.h"

#include "gloo/collective.h"
#include "gloo/message.h"

_Thread_local struct inside inside;

void inside_leave(bool done)
{
    switch (inside.what) {
    case INSIDE_COLLECTIVE:
        collective_leave(!done);
        break;
    case INSIDE_AWAIT:
        collective_awaited();
        break;
    case INSIDE_MESSAGE:
        message_awaited(inside.from ? *inside.from : -1, done);
        break;
    case INSIDE_GROUP:
        inside.group = NULL;
        break;
    case INSIDE_NOTHING:
        break;
    }
    inside.what = INSIDE_NOTHING;
}
