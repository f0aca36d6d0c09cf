// Preloaded into a server: each sync of a file takes SYNC_MS milliseconds longer, as on a slow disk.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static int synced(int fd, const char *name) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  const char *ms = getenv("SYNC_MS");
  if (ms) usleep(1000 * (unsigned)atoi(ms));
  return real(fd);
}

int fsync(int fd) { return synced(fd, "fsync"); }
int fdatasync(int fd) { return synced(fd, "fdatasync"); }
