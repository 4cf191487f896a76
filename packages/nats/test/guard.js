/** Ends a process with this one, even when this one is ended by SIGKILL and can do nothing for it any more. */
import { spawn } from 'node:child_process';

/** Waits until the other end of its input is gone. */
const GUARD = 'read -r _; kill -KILL "$0"; [ $# -eq 0 ] || rm -rf -- "$@"';

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {string[]} [folders] that are removed then
 */
export function guard(child, folders = []) {
  if (child.pid === undefined) return;
  const shell = spawn('sh', ['-c', GUARD, String(child.pid), ...folders], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Not in the group that a Ctrl-C is for.
    detached: true,
  });
  shell.stdin.on('error', () => {});
  shell.unref();
  // Bun's has no such method, and keeps no process alive.
  shell.stdin.unref?.();
  child.once('exit', () => shell.kill('SIGKILL'));
}
