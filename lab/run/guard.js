import { spawn } from 'node:child_process';

/** Reads until the lab is gone, whatever ended it; then it asks the group to end, and ends it. */
const GUARD = `read -r _
kill -TERM "-$0" && sleep 2 && kill -KILL "-$0"`;

/**
 * Ends a group of processes when this one is gone, even by SIGKILL: a shell holds the other end of a pipe.
 *
 * @param {number} group its number
 * @returns {() => void} takes it back
 */
export function guard(group) {
  const shell = spawn('sh', ['-c', GUARD, `${group}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // A Ctrl-C in the terminal, and a SIGKILL to the lab's group, are not for it.
    detached: true,
  });
  // Without a shell there is no guard.
  shell.on('error', () => {});
  shell.stdin?.on('error', () => {});
  shell.unref();
  shell.stdin?.unref?.();
  return () => shell.kill('SIGKILL');
}
