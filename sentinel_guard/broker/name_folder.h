/* What a folder is called where rules are named (name_folder.c). */
#ifndef SENTINEL_NAME_FOLDER_H
#define SENTINEL_NAME_FOLDER_H

#include "broker.h"

/* Fills in `real` and `elsewhere` of a place whose folder is open. `other_root`: the task's root is not the broker's. */
bool name_folder(struct task *task, bool other_root, struct place *place);

/* By the mounts of the task and of the broker: a folder that is bound to another name, as it is called below the folder of
 * a rule. False: it lies in none. (mount_names.c) */
bool name_by_mount(struct task *task, int folder, char real[PATH_MAX]);

#endif
