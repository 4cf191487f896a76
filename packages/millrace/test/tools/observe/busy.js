/** Computes for so many ms of CPU time, however long that takes on a machine with other work. */
export function busy(ms) {
  const from = process.cpuUsage();
  for (;;) {
    const { user, system } = process.cpuUsage(from);
    if (user + system >= ms * 1000) return;
  }
}
