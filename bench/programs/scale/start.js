import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/**
 * Starts a program of a folder beside this file, and resolves when it is ready; `children` gets it, so that it is ended whatever happens.
 *
 * @param {string} name as `tasks/worker.js`
 * @param {[subject: string, place: string, options?: object]} args
 * @param {{ stop(): Promise<void> }[]} children
 */
export async function start(name, [subject, place, options = {}], children) {
  const path = fileURLToPath(new URL(`./${name}`, import.meta.url));
  const child = fork(path, [subject, place, JSON.stringify(options)]);
  const exited = once(child, 'exit');
  const died = exited.then(([code, signal]) => {
    throw new Error(`${name} of ${subject} ended with ${signal ?? code}`);
  });
  died.catch(() => {});
  const answer = async () => (await Promise.race([once(child, 'message'), died]))[0];
  const started = {
    ...{ pid: child.pid, child },
    ask(question) {
      child.send(question);
      return answer();
    },
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
  children.push(started);
  await answer();
  return started;
}
