/** The machine: what an experiment was measured on, and how busy it is. */
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';

/** Host of an experiment, and its load at the beginning. */
export function hostRecord() {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memory_bytes: totalmem(),
    kernel: `${type()} ${release()}`,
    arch: process.arch,
    is_virtual: isVirtual(),
    /** Means of the last 1, 5 and 15 minutes. */
    load_average: loadavg(),
    node: process.version,
    v8: process.versions.v8,
    libuv: process.versions.uv,
  };
}

/** Reports whether the processor says that a hypervisor runs it; null where it does not say. */
function isVirtual() {
  try {
    const flags = /^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1];
    return flags === undefined ? null : / hypervisor( |$)/.test(flags);
  } catch {
    return null;
  }
}

/** CPU time that the machine has spent on anything but waiting, of all cores, seconds. */
export function busyS() {
  const times = cpus().flatMap((cpu) => Object.entries(cpu.times));
  return times.reduce((sum, [name, ms]) => (name === 'idle' ? sum : sum + ms), 0) / 1000;
}
