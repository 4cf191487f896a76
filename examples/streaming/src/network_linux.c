#if defined(__linux__)

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "delay_line.h"
#include "must.h"
#include "network.h"
#include "server.h"

/* Packets as large as loopback's, so that the delay line has few to carry. */
enum { mtu = 65535 };

void network_pin(unsigned int core) {
  cpu_set_t set;
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) return;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof(set), &set);
}

static void enter_namespace(void) {
  if (unshare(CLONE_NEWNET) == 0) return;
  FAIL("--rtt needs a network namespace, which is not allowed here: %s", strerror(errno));
}

static void control(int fd, unsigned long request, struct ifreq* device, const char* what) {
  if (ioctl(fd, request, device) != 0) FAIL("%s: %s", what, strerror(errno));
}

static void set_address(int fd, struct ifreq* device, unsigned long request, const char* address) {
  struct sockaddr_in in;
  MUST(uv_ip4_addr(address, 0, &in));
  memcpy(&device->ifr_addr, &in, sizeof(in));
  control(fd, request, device, address);
}

static void bring_up(int fd, struct ifreq* device) {
  device->ifr_flags = IFF_UP;
  control(fd, SIOCSIFFLAGS, device, "device");
}

static int loopback_with_netem(double rtt_ms) {
  char command[200];
  struct ifreq device;
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  memset(&device, 0, sizeof(device));
  strcpy(device.ifr_name, "lo");
  bring_up(fd, &device);
  close(fd);
  snprintf(command, sizeof(command), "tc qdisc add dev lo root netem delay %.3fms limit 1000000 2>&1", rtt_ms / 2);
  FILE* tc = popen(command, "r");
  if (tc == NULL) return 0;
  while (fgetc(tc) != EOF) continue;
  return pclose(tc) == 0;
}

/* A device of this namespace whose packets come from, and go to, the descriptor. */
static int open_tun(const char* address, const char* peer) {
  struct ifreq device;
  int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (tun < 0) FAIL("--rtt needs netem or TUN devices, and there is neither: %s", strerror(errno));
  memset(&device, 0, sizeof(device));
  strcpy(device.ifr_name, "far");
  device.ifr_flags = IFF_TUN | IFF_NO_PI;
  control(tun, TUNSETIFF, &device, "TUN device");
  device.ifr_mtu = mtu;
  control(fd, SIOCSIFMTU, &device, "MTU");
  device.ifr_qlen = 10000;
  control(fd, SIOCSIFTXQLEN, &device, "queue of the device");
  set_address(fd, &device, SIOCSIFADDR, address);
  set_address(fd, &device, SIOCSIFDSTADDR, peer);
  bring_up(fd, &device);
  close(fd);
  return tun;
}

struct sockaddr_in network_start(double rtt_ms, size_t size) {
  static const char here[] = "10.99.0.1", there[] = "10.99.0.2";
  if (rtt_ms <= 0) return server_start("127.0.0.1", size);
  enter_namespace();
  if (loopback_with_netem(rtt_ms)) {
    fprintf(stderr, "round trips of %g ms by netem\n", rtt_ms);
    return server_start("127.0.0.1", size);
  }
  int server_tun = open_tun(there, here);
  struct sockaddr_in server = server_start(there, size);
  enter_namespace();
  int client_tun = open_tun(here, there);
  delay_line_start(server_tun, client_tun, rtt_ms / 2);
  fprintf(stderr, "round trips of %g ms by this program: tc or sch_netem is missing\n", rtt_ms);
  return server;
}

#endif
