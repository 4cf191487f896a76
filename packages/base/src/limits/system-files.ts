/** Small files of the kernel, read on the spot: they are in memory. Tests put a folder in the place of `/`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Null if it is not there or may not be read: then it says nothing. */
export function readText(root: string, ...path: string[]): string | null {
  try {
    return readFileSync(join(root, ...path), 'utf8');
  } catch {
    return null;
  }
}

/** CPU numbers of a list like `0-3,8`; null if it is not one. */
export function parseCpuList(text: string): number[] | null {
  const cpus: number[] = [];
  for (const range of text.trim().split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(range.trim());
    if (match === null) return null;
    const first = Number(match[1]);
    const last = Number(match[2] ?? first);
    for (let cpu = first; cpu <= last; cpu++) cpus.push(cpu);
  }
  return cpus;
}

/** CPUs on which the scheduler may put this process, out of `/proc/self/status`; null if that does not say. */
export function allowedCpus(root: string): number[] | null {
  const list = /^Cpus_allowed_list:\s*(.+)$/m.exec(readText(root, 'proc/self/status') ?? '')?.[1];
  return list === undefined ? null : parseCpuList(list);
}

/** Bytes in a line of `/proc/meminfo`; null if it is not there. */
export function memoryInfo(root: string, name: string): number | null {
  const lines = readText(root, 'proc/meminfo') ?? '';
  const kibi = new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(lines)?.[1];
  return kibi === undefined ? null : Number(kibi) * 1024;
}
