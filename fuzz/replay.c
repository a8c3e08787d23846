/* A main for a fuzz target under any compiler: runs it on each file that is
 * named, and on each file in each folder that is named. */
#include "fuzz.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

static unsigned replay_file(const char *path)
{
    struct stat info;
    FILE *file = fopen(path, "rb");
    FUZZ_CHECK(file && fstat(fileno(file), &info) == 0);
    size_t size = (size_t)info.st_size;
    // Exactly as large as the input, so that a step beyond it is noticed.
    uint8_t *data = malloc(size ? size : 1);
    FUZZ_CHECK(data && fread(data, 1, size, file) == size);
    (void)fclose(file);
    (void)LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

static unsigned replay(const char *path)
{
    struct stat info;
    FUZZ_CHECK(stat(path, &info) == 0);
    if (!S_ISDIR(info.st_mode))
        return replay_file(path);
    unsigned count = 0;
    DIR *folder = opendir(path);
    FUZZ_CHECK(folder);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        char inner[4096];
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
        count += replay(inner);
    }
    (void)closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    unsigned count = 0;
    for (int i = 1; i < argc; i++)
        count += replay(argv[i]);
    (void)printf("%u inputs replayed\n", count);
    return count > 0 ? 0 : 1;
}
