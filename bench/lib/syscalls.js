/** System calls of a process, counted by strace from outside: it slows the process, and changes nothing else. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Reason why they cannot be counted here; null: they can. */
export function obstacle() {
  const { error, status, stderr } = spawnSync('strace', ['-c', 'true'], { encoding: 'utf8' });
  if (error) return error.code === 'ENOENT' ? 'there is no strace here' : error.message;
  return status === 0 ? null : `strace may not trace: ${stderr.split('\n')[0]}`;
}

/** Counts the system calls of all threads while `run` runs, by name. */
export async function countSyscalls(pid, run) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'));
  const path = join(folder, 'counts');
  const strace = spawn('strace', ['-c', '-f', '-p', `${pid}`, '-o', path], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    // It says so when it has attached.
    await once(strace.stderr, 'data');
    await run();
    strace.kill('SIGINT');
    await once(strace, 'exit');
    return parse(readFileSync(path, 'latin1'));
  } finally {
    strace.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Lines of "% time, seconds, usecs/call, calls, errors (may be empty), syscall" between two rules. */
function parse(table) {
  const [, body] = table.split(/^-.*$/m);
  return Object.fromEntries(
    body
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .map((fields) => [fields.at(-1), Number(fields[3])]),
  );
}
