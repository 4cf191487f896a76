/** The shortest application: says what its process has used of the CPU until it began, in µs. */
const { user, system } = process.cpuUsage();
process.stdout.write(`${user + system}`);
