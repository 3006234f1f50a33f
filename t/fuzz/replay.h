/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target over files, without libFuzzer: main() with the names of
 * files or directories (one level) as arguments. Each input is copied to the
 * end of its own allocation, so that a sanitizer sees reads past it.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef REPLAY

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static unsigned replay_count;

static inline int replay_file(const char *name)
{
    FILE *f = fopen(name, "rb");
    struct stat st;
    uint8_t *data;
    size_t size;

    if (!f || fstat(fileno(f), &st)) {
        perror(name);
        return 1;
    }
    size = (size_t)st.st_size;
    data = malloc(size ? size : 1);
    if (!data || fread(data, 1, size, f) != size) {
        perror(name);
        return 1;
    }
    fclose(f);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    replay_count++;
    return 0;
}

static inline int replay_dir(const char *name)
{
    DIR *d = opendir(name);
    struct dirent *e;
    char path[4096];
    int rc = 0;

    if (!d) {
        return replay_file(name);
    }
    while ((e = readdir(d))) {
        if (e->d_name[0] != '.') {
            snprintf(path, sizeof(path), "%s/%s", name, e->d_name);
            rc |= replay_file(path);
        }
    }
    closedir(d);
    return rc;
}

int main(int argc, char **argv)
{
    int i, rc = 0;

    for (i = 1; i < argc; i++) {
        rc |= replay_dir(argv[i]);
    }
    printf("%u inputs\n", replay_count);
    return rc;
}

#endif
#endif
