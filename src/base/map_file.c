#include "map_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

tb_status tb_map_file(const char *path, struct tb_span *bytes)
{
    *bytes = (struct tb_span){0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT ? TB_ERR_NOT_FOUND : TB_ERR_IO;
    struct stat info;
    tb_status status = TB_ERR_IO;
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode)) {
        status = TB_OK;
        if (info.st_size > 0) {
            void *map = mmap(NULL, (size_t)info.st_size, PROT_READ,
                             MAP_PRIVATE | MAP_POPULATE, file, 0);
            if (map == MAP_FAILED)
                status = TB_ERR_IO;
            else
                *bytes = (struct tb_span){map, (size_t)info.st_size};
        }
    }
    (void)close(file);
    return status;
}

void tb_unmap_file(struct tb_span bytes)
{
    if (bytes.len)
        (void)munmap((void *)(uintptr_t)bytes.ptr, bytes.len);
}
