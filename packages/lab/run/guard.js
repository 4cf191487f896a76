import { spawn } from 'node:child_process';
import { marked } from './strays.js';

/** Reads until the lab is gone, whatever ended it; then it asks the group and what has left it to end, and ends them. */
const GUARD = `read -r group
read -r _
strays() { grep -lszE "^$1(/|$)" /proc/[0-9]*/environ | cut -d / -f 3; }
kill -TERM \${group:+"-$group"} $(strays "$1")
sleep 2
kill -KILL \${group:+"-$group"} $(strays "$1")`;

/**
 * Ends a group of processes, and those that have left it, when this one is gone, even by SIGKILL: a shell holds the other
 * end of a pipe. It comes before the first of these processes, which would be left behind if this one ended between the two.
 *
 * @param {Record<string, string>} mark of its processes
 * @returns {{ group: (number: number) => void, end: () => void }} `group` tells the number of the group, once it is there; `end` takes
 *   the guard back
 */
export function guard(mark) {
  const shell = spawn('sh', ['-c', GUARD, 'sh', marked(mark)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // A Ctrl-C in the terminal, and a SIGKILL to the lab's group, are not for it.
    detached: true,
  });
  // Without a shell there is no guard.
  shell.on('error', () => {});
  shell.stdin?.on('error', () => {});
  shell.unref();
  shell.stdin?.unref?.();
  return {
    group: (number) => shell.stdin?.write(`${number}\n`),
    end: () => shell.kill('SIGKILL'),
  };
}
