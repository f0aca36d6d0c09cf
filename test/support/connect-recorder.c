// Preloaded into a process: notes each address of IPv4 and IPv6 to which it connects, or sends a datagram, a line each in RECORD_TO.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void note(const struct sockaddr *to) {
  char address[INET6_ADDRSTRLEN] = "", line[INET6_ADDRSTRLEN + 16];
  const char *path = getenv("RECORD_TO");
  int port = 0;
  if (to == NULL || path == NULL) return;
  if (to->sa_family == AF_INET) {
    const struct sockaddr_in *four = (const struct sockaddr_in *)to;
    inet_ntop(AF_INET, &four->sin_addr, address, sizeof address);
    port = ntohs(four->sin_port);
  } else if (to->sa_family == AF_INET6) {
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)to;
    inet_ntop(AF_INET6, &six->sin6_addr, address, sizeof address);
    port = ntohs(six->sin6_port);
  } else return;
  int length = snprintf(line, sizeof line, "%s %d\n", address, port);
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (write(file, line, (size_t)length) < 0) abort();
  close(file);
}

int connect(int socket, const struct sockaddr *to, socklen_t length) {
  static int (*real)(int, const struct sockaddr *, socklen_t);
  if (real == NULL) real = dlsym(RTLD_NEXT, "connect");
  note(to);
  return real(socket, to, length);
}

ssize_t sendto(int socket, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t length) {
  static ssize_t (*real)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
  if (real == NULL) real = dlsym(RTLD_NEXT, "sendto");
  note(to);
  return real(socket, data, size, flags, to, length);
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
  static ssize_t (*real)(int, const struct msghdr *, int);
  if (real == NULL) real = dlsym(RTLD_NEXT, "sendmsg");
  note(message->msg_name);
  return real(socket, message, flags);
}
