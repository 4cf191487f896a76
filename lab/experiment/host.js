import { availableParallelism, cpus, release, totalmem, type } from 'node:os';

/** What an experiment was measured on. */
export function hostRecord() {
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

/** CPU time that the machine has spent on anything but waiting, of all cores, seconds. */
export function busyS() {
  const times = cpus().flatMap((cpu) => Object.entries(cpu.times));
  return times.reduce((sum, [name, ms]) => (name === 'idle' ? sum : sum + ms), 0) / 1000;
}
