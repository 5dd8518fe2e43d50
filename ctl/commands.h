/* commands.h - sgctl's commands and options (common/options.h).  What a command does is in sgctl.c and
 * the files of sgctl.h. */
#ifndef SYNCGUARD_CTL_COMMANDS_H
#define SYNCGUARD_CTL_COMMANDS_H

#include "common/options.h"

/* options_command.id */
enum command {
    COMMAND_STATUS,
    COMMAND_JOBS,
    COMMAND_JOB,
    COMMAND_NODES,
    COMMAND_LEMONS,
    COMMAND_EARLIER,
    COMMAND_ACTION,
    COMMAND_NODE,
    COMMAND_ACTIONS,
    COMMAND_AUDIT,
    COMMAND_RECORD,
    COMMAND_ANALYZE,
    COMMAND_REPLAY,
    COMMAND_STEP,
    COMMAND_EXPORT,
    COMMAND_IMPORT,
    COMMAND_TOP,
    COMMAND_CONFIG,
    COMMAND_CONFIG_CHECK,
    COMMAND_POLICY_LIST,
    COMMAND_POLICY_SHOW,
    COMMAND_POLICY_EXPLAIN,
    COMMAND_POLICY_CONTROL, /* set, pause, resume, acknowledge */
    COMMAND_POLICY_CHECK,
    COMMAND_POLICY_TRY,
    COMMAND_POLICY_FIGURES,
    COMMAND_DOCTOR,
    COMMANDS,
};

extern const struct options_program sgctl_program;

#endif
