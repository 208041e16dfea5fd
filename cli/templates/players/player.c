/* A player of any game over the protocol of lines (docs/lines.md), without libraries: cc -O2 -o PLAYER PLAYER.c */

#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most legal moves of a position that it can hold: chess has 218 at most. */
enum { MOVES_MAX = 1024 };

/* The move to make, as the place of one of the legal moves. Random numbers that follow from the seed repeat on any
   machine. `value_of(request, "position")` is
   where the position begins, a text in quotes. */
static size_t choose(char *const legal[], size_t count, uint64_t seed, const char *request) {
    (void)legal, (void)request;
    /* SplitMix64, which spreads the seed over all bits. */
    seed += UINT64_C(0x9e3779b97f4a7c15);
    seed = (seed ^ (seed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    seed = (seed ^ (seed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (size_t)((seed ^ (seed >> 31)) % count);
}

/* The value after a key, or NULL. A quote within a JSON text is written \", so no text looks like a key. */
static char *value_of(const char *line, const char *key) {
    size_t length = strlen(key);
    for (const char *at = strchr(line, '"'); at != NULL; at = strchr(at + 1, '"')) {
        if (strncmp(at + 1, key, length) != 0 || at[1 + length] != '"') continue;
        const char *after = at + length + 2;
        after += strspn(after, " ");
        if (*after == ':') return (char *)after + 1 + strspn(after + 1, " ");
    }
    return NULL;
}

/* Splits `["a","b"]` in place into its texts; returns their number. */
static size_t texts_of(char *list, char *texts[], size_t max) {
    size_t count = 0;
    char *at = list + 1;
    while (count < max && *(at += strspn(at, " ,")) == '"') {
        char *end = strchr(at + 1, '"');
        if (end == NULL) break;
        *end = '\0';
        texts[count++] = at + 1;
        at = end + 1;
    }
    return count;
}

int main(void) {
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, stdin) > 0) {
        if (value_of(line, "spelrum") != NULL) {
            puts("{\"name\":\"PLAYER\",\"version\":\"1\"}");
        } else if (value_of(line, "legal") != NULL && value_of(line, "id") != NULL) {
            const char *seed = value_of(line, "seed");
            uint64_t id = strtoull(value_of(line, "id"), NULL, 10);
            uint64_t number = seed == NULL ? 0 : strtoull(seed, NULL, 10);
            char *request = strdup(line);
            char *legal[MOVES_MAX];
            size_t count = texts_of(value_of(line, "legal"), legal, MOVES_MAX);
            if (request == NULL || count == 0) return 1;
            printf("{\"id\":%" PRIu64 ",\"move\":\"%s\"}\n", id, legal[choose(legal, count, number, request)]);
            free(request);
        }
        fflush(stdout);
    }
    free(line);
    return 0;
}
