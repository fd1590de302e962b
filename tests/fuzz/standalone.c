/* Runs a fuzz target over files instead of under libFuzzer: every file of the folders and files given, each once.
 * So the corpus, with every input that ever broke something, is part of the ordinary tests. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long replayed;

static bool replay_file(const char *path, size_t size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return false;
    }
    uint8_t *data = malloc(size > 0 ? size : 1); /* exactly as large as the input: a read past it is seen */
    bool good = data != NULL && fread(data, 1, size, file) == size;
    fclose(file);
    if (good) {
        fprintf(stderr, "%s\n", path); /* the last one named is the one that crashed */
        LLVMFuzzerTestOneInput(data, size);
        replayed++;
    }
    free(data);
    return good;
}

static bool replay(const char *path);

static bool replay_folder(const char *path) {
    struct dirent **names = NULL;
    int count = scandir(path, &names, NULL, alphasort);
    bool good = count >= 0;
    for (int i = 0; i < count; i++) {
        char inner[4096];
        if (names[i]->d_name[0] != '.') {
            int length = snprintf(inner, sizeof inner, "%s/%s", path, names[i]->d_name);
            good = length < (int)sizeof inner && replay(inner) && good;
        }
        free(names[i]);
    }
    free(names);
    return good;
}

static bool replay(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) {
        perror(path);
        return false;
    }
    return S_ISDIR(info.st_mode) ? replay_folder(path) : replay_file(path, (size_t)info.st_size);
}

int main(int argc, char **argv) {
    bool good = true;
    for (int i = 1; i < argc; i++) {
        good = replay(argv[i]) && good;
    }
    printf("%lu inputs replayed\n", replayed);
    return good && replayed > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
