#include "fuzz_rows.h"

#include <string.h>
#include <unistd.h>

const char *fuzz_rows_path(void)
{
    static char path[256];
    const char *folder = getenv("TMPDIR");
    (void)snprintf(path, sizeof(path), "%.200s/tb_fuzz_rows_%ld",
                   folder ? folder : "/tmp", (long)getpid());
    return path;
}

uint64_t fuzz_check_rows(const char *path, uint32_t block_size, bool is_exact)
{
    struct tb_buffer rows = TB_BUFFER(1 << 28);
    uint64_t count = 0;
    char fingerprint[33];
    FUZZ_CHECK(fuzz_read_file(path, 1 << 16, &rows, fingerprint) == TB_OK);
    FUZZ_CHECK(tb_buffer_append_byte(&rows, 0) == TB_OK);
    const char *key = "\", \"input_length\": ", *row = (const char *)rows.ptr;
    for (; (row = strstr(row, key)); count++) {
        uint64_t length = strtoull(row + strlen(key), NULL, 10);
        const char *id = strchr(row, '['), *end = strchr(row, ']');
        FUZZ_CHECK(id && end && id < end);
        uint64_t ids = end - id > 1;
        while ((id = strchr(id, ',')) && id < end) {
            ids++;
            id++;
        }
        FUZZ_CHECK(!is_exact || ids == (length + block_size - 1) / block_size);
        row = end;
    }
    tb_buffer_release(&rows);
    char meta[300];
    (void)snprintf(meta, sizeof(meta), "%s.meta.json", path);
    FUZZ_CHECK(unlink(path) == 0 && unlink(meta) == 0);
    return count;
}
