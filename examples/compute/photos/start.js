import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SERVICE = fileURLToPath(new URL('./service.js', import.meta.url));

/** Starts the photo service in a process of its own, on a free port of this machine only. */
export async function startPhotos({ log }) {
  const child = fork(SERVICE, { execArgv: [] });
  const exited = once(child, 'exit');
  const ready = once(child, 'message').then(([{ port }]) => port);
  const port = await Promise.race([ready, exited.then(() => undefined)]);
  if (port === undefined) throw new Error('the photo service could not start');
  let isWanted = true;
  exited.then(([code, signal]) => {
    if (isWanted) log(`the photo service ended with ${signal ?? code}; /fetch-photos answers 502`);
  });
  return {
    url: `http://127.0.0.1:${port}/photos`,
    pid: child.pid,
    async close() {
      isWanted = false;
      child.kill('SIGKILL');
      await exited;
    },
  };
}
