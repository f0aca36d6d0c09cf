// Preloaded into a process: records its writes, truncations, renames and syncs of files whose path begins with
// RECORD_UNDER, and its answers to clients, in order, in the file RECORD_TO.
//
// SYNC_MS: added latency of each sync. FAIL_SYNC: the number of the WAL sync that fails; the writes before it may
// be lost for good, as on Linux, where the pages are marked clean after a failed sync.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, TRUNCATE, REMOVE, SYNC_BEGINS, SYNC_RETURNS, SYNC_FAILED, ANSWER, RENAME };

struct entry { uint32_t kind, sync, path_bytes, data_bytes; uint64_t offset; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int record = -1;
static uint32_t syncs, log_syncs;
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_truncate)(int, off_t);
static int (*real_unlink)(const char *);
static int (*real_rename)(const char *, const char *);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);

__attribute__((constructor)) static void begin(void) {
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_truncate = dlsym(RTLD_NEXT, "ftruncate64");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
  real_rename = dlsym(RTLD_NEXT, "rename");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  record = open(getenv("RECORD_TO"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void note(uint32_t kind, uint32_t sync, const char *path, uint64_t offset, const void *data, size_t bytes) {
  struct entry entry = {kind, sync, (uint32_t)strlen(path), (uint32_t)bytes, offset};
  struct iovec parts[] = {{&entry, sizeof entry}, {(void *)path, entry.path_bytes}, {(void *)data, bytes}};
  if (writev(record, parts, 3) < 0) abort();
}

static int is_watched(const char *path) {
  const char *under = getenv("RECORD_UNDER");
  return strncmp(path, under, strlen(under)) == 0;
}

// Returns the path of an open file that is recorded; empty for other files.
static const char *path_of(int fd, char *path) {
  char link[32], *digits = link + sizeof link - 1;
  *digits = 0;
  for (unsigned rest = (unsigned)fd; digits == link + sizeof link - 1 || rest > 0; rest /= 10) *--digits = '0' + rest % 10;
  char name[64] = "/proc/self/fd/";
  strcat(name, digits);
  ssize_t bytes = readlink(name, path, PATH_MAX - 1);
  path[bytes < 0 ? 0 : bytes] = 0;
  return is_watched(path) ? path : "";
}

// Called by the process when a client has received this answer.
void record_answer(const char *text) {
  pthread_mutex_lock(&lock);
  note(ANSWER, 0, "", 0, text, strlen(text));
  pthread_mutex_unlock(&lock);
}

ssize_t write(int fd, const void *data, size_t bytes) {
  char path[PATH_MAX];
  if (*path_of(fd, path) == 0) return real_write(fd, data, bytes);
  pthread_mutex_lock(&lock);
  const off_t at = lseek(fd, 0, SEEK_CUR);
  const ssize_t done = real_write(fd, data, bytes);
  if (done > 0) note(WRITE, 0, path, (uint64_t)at, data, (size_t)done);
  pthread_mutex_unlock(&lock);
  return done;
}

ssize_t pwrite64(int fd, const void *data, size_t bytes, off_t at) {
  char path[PATH_MAX];
  if (*path_of(fd, path) == 0) return real_pwrite(fd, data, bytes, at);
  pthread_mutex_lock(&lock);
  const ssize_t done = real_pwrite(fd, data, bytes, at);
  if (done > 0) note(WRITE, 0, path, (uint64_t)at, data, (size_t)done);
  pthread_mutex_unlock(&lock);
  return done;
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at) { return pwrite64(fd, data, bytes, at); }

int ftruncate64(int fd, off_t size) {
  char path[PATH_MAX];
  if (*path_of(fd, path) == 0) return real_truncate(fd, size);
  pthread_mutex_lock(&lock);
  const int failed = real_truncate(fd, size);
  if (!failed) note(TRUNCATE, 0, path, (uint64_t)size, "", 0);
  pthread_mutex_unlock(&lock);
  return failed;
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int unlink(const char *path) {
  pthread_mutex_lock(&lock);
  const int failed = real_unlink(path);
  if (!failed && is_watched(path)) note(REMOVE, 0, path, 0, "", 0);
  pthread_mutex_unlock(&lock);
  return failed;
}

int rename(const char *from, const char *to) {
  pthread_mutex_lock(&lock);
  const int failed = real_rename(from, to);
  if (!failed && is_watched(to)) note(RENAME, 0, to, 0, from, strlen(from));
  pthread_mutex_unlock(&lock);
  return failed;
}

// Bun writes some files by direct system calls, which cannot be intercepted: such files are recorded whole when
// they are synced.
static void note_whole(const char *path) {
  static char content[1 << 20];
  if (strstr(path, ".oncebox-new") == NULL) return;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t bytes = read(file, content, sizeof content);
  close(file);
  if (bytes > 0) note(WRITE, 0, path, 0, content, (size_t)bytes);
}

static int synced(int fd, int (*real)(int)) {
  char path[PATH_MAX];
  if (*path_of(fd, path) == 0) return real(fd);
  pthread_mutex_lock(&lock);
  const uint32_t number = ++syncs;
  const size_t bytes = strlen(path);
  const uint32_t of_log = bytes > 4 && strcmp(path + bytes - 4, "-wal") == 0 ? ++log_syncs : 0;
  note_whole(path);
  note(SYNC_BEGINS, number, path, 0, "", 0);
  pthread_mutex_unlock(&lock);
  const char *ms = getenv("SYNC_MS"), *fails = getenv("FAIL_SYNC");
  if (ms) usleep(1000 * (unsigned)atoi(ms));
  const int is_failing = fails && of_log > 0 && (uint32_t)atoi(fails) == of_log;
  const int failed = is_failing ? -1 : real(fd);
  pthread_mutex_lock(&lock);
  note(failed ? SYNC_FAILED : SYNC_RETURNS, number, path, 0, "", 0);
  pthread_mutex_unlock(&lock);
  if (is_failing) errno = EIO;
  return failed;
}

int fsync(int fd) { return synced(fd, real_fsync); }
int fdatasync(int fd) { return synced(fd, real_fdatasync); }
