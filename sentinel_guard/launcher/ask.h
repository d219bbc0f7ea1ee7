/* A question on the terminal itself: standard input and output may belong to an agent.
 *
 * 1. Only a terminal in canonical mode, whose foreground job we are, is asked: any other is busy with something else.
 * 2. What was typed before the question was shown is thrown away.
 * 3. Only a line of Y or y alone is a yes.
 */
#ifndef SENTINEL_ASK_H
#define SENTINEL_ASK_H

#include <stddef.h>

/* The terminal to ask on, or -1. */
int open_terminal(void);

enum reply { YES = 'Y', NO = 'N', NOBODY = '-', GUARD_SPOKE = 0 };

/* Shows the text and reads one line. GUARD_SPOKE where something came from the guard first. */
enum reply ask(const char *text, size_t size, int guard);

#endif
