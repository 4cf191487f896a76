import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/**
 * Starts a module as a child process. Its stdin is a pipe that nobody writes to: it closes with this process, whatever
 * ends it.
 */
export function startChild(module, args = []) {
  const path = fileURLToPath(new URL(module, import.meta.url));
  const child = fork(path, args, { stdio: ['pipe', 'inherit', 'inherit', 'ipc'], execArgv: [] });
  // A message to one that has just ended: `exited` tells.
  child.on('error', () => {});
  child.exited = once(child, 'exit').then(([code, signal]) => signal ?? code);
  return child;
}

/** Ends it at once, however busy it is. */
export async function endChild(child) {
  child.kill('SIGKILL');
  await child.exited;
}
