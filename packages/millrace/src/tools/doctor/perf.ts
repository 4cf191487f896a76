import { spawnSync } from 'node:child_process';
import { readText } from '@millrace/base/limits/system-files';
import { type Finding, ok, onlyLinux, type Place } from './finding.js';

/** The event that @millrace/lab counts. */
const EVENT = 'raw_syscalls:sys_enter';

/** Whether perf can count system calls: by counting those of a small program. */
export function perf(place: Place): Finding {
  const name = 'perf';
  const elsewhere = onlyLinux(name, place);
  if (elsewhere !== null) return elsewhere;
  const args = ['stat', '-x', ',', '-e', EVENT, '--', process.execPath, '--version'];
  const { error, stderr } = spawnSync('perf', args, {
    env: place.env,
    encoding: 'utf8',
    timeout: 10_000,
  });
  const means = 'optional: without it millrace experiment does not count system calls';
  const state = 'note';
  if (error !== undefined) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const found = isAbsent ? 'not installed' : `does not run: ${error.message}`;
    return { name, state, found, means, fix: 'install perf (Debian: linux-perf)' };
  }
  if (new RegExp(`^\\d+,.*${EVENT}`, 'm').test(stderr)) return ok(name, 'counts system calls');
  const paranoid =
    readText(place.root, 'proc/sys/kernel/perf_event_paranoid')?.trim() ?? 'not known';
  const found = `may not count system calls, kernel.perf_event_paranoid ${paranoid}`;
  const fix = 'sysctl kernel.perf_event_paranoid=-1 and a readable /sys/kernel/tracing, as root';
  return { name, state, found, means, fix };
}
