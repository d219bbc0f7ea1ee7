#include "hook.h"

#include <stdio.h>
#include <stdlib.h>

#include "base.h"

void hook_refuses_in_form(struct guard *guard, char **argv)
{
    char name[128];
    if (!argv[0] || !argv[1] || !argv[2])
        return;
    snprintf(name, sizeof name, "hook.%.50s.%.50s", argv[1], argv[2]);
    const char *value = find_setting(guard, name);
    if (!value)
        return;
    char *form;
    long seconds = strtol(value, &form, 10);
    if (seconds > 0)
        guard->until = now_ms() + seconds * 1000;
    refuse_in_form(*form == ' ' ? form + 1 : form);
}
