#include "wear.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../launcher/base.h"
#include "pass_descriptor.h"
#include "seccomp_filter.h"

enum { NOT_FOUND = 127 };

_Noreturn void wear(int line, const char *path, char *argv[])
{
    static const char readable[] = READABLE;
    struct worn worn = {(uint64_t)(uintptr_t)readable, getpid()};
    char serves;
    int listener = wear_filter(scope_signals());
    if (listener < 0)
        refuse("the kernel gives no seccomp listener: %s. Set [kernel] mode = \"off\" in your policy to run without this "
               "layer.",
               errno == EBUSY ? "another one is worn already" : strerror(errno));
    /* From here on every held call waits for the broker. */
    if (!send_descriptor(line, listener, &worn, sizeof worn) || read(line, &serves, 1) != 1)
        refuse("the broker of held system calls does not answer. Start the agent again.");
    close(listener);
    close(line);
    execvp(path, argv); /* the path has a slash: a script without #! is for sh, and nothing is searched for */
    refuse_as(path, errno == ENOENT ? NOT_FOUND : EXIT_REFUSED);
    refuse("it cannot be started: %s.", strerror(errno));
}
