/* Prints what launcher/wire.c reads from descriptor 0: a line a chunk, "end" after a message, then how it ended. */
#include <stdio.h>
#include <stdlib.h>

#include "base.h"
#include "wire.h"

static void print_message(const struct message *message)
{
    for (size_t i = 0; i < message->count; i++) {
        const struct chunk *c = &message->chunks[i];
        printf("%c ", c->tag);
        for (size_t n = 0; n < c->size; n++)
            printf("%02x", (unsigned char)c->body[n]);
        printf(c->body[c->size] ? " no NUL\n" : "\n");
    }
    puts("end");
}

int main(void)
{
    static const char *const ends[] = {"", "closed", "late", "garbage"};
    struct reader reader = {0};
    enum wire seen;
    while ((seen = read_message(0, &reader, 5000)) == WIRE_MESSAGE)
        print_message(&reader.message);
    puts(ends[seen]);
    free(reader.buffer.at);
    free(reader.message.chunks);
    return 0;
}
