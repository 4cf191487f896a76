/** The shortest application: prints the CPU time of its process until it began, and how long ago that was started, in µs. */
const { user, system } = process.cpuUsage();
process.stdout.write(`${user + system} ${performance.now() * 1000}`);
