import { availableParallelism, cpus, release, totalmem, type } from 'node:os';

/** What the figures were measured on. */
export function machine() {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memory_bytes: totalmem(),
    kernel: `${type()} ${release()}`,
    arch: process.arch,
    node: process.version,
    v8: process.versions.v8,
    libuv: process.versions.uv,
  };
}

/** The share of the CPUs' time that was in use over one second in which this process waits, 0 to 1. */
export async function busyShare() {
  const before = cpuTime();
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const after = cpuTime();
  return 1 - (after.idle - before.idle) / (after.all - before.all);
}

function cpuTime() {
  const times = cpus().map((cpu) => cpu.times);
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  return {
    idle: sum(times.map(({ idle }) => idle)),
    all: sum(times.flatMap((each) => Object.values(each))),
  };
}
