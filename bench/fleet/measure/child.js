/** Children that are asked questions, and what they use meanwhile. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LabError } from '@millrace/lab/run';

/**
 * Starts a program of this folder, and resolves when it has said its first word.
 *
 * @param {string} name
 * @param {string[]} [args]
 * @returns {Promise<{ pid: number, first: any, ask(question: string): Promise<any>, stop(): Promise<void> }>}
 */
export async function startChild(name, args = []) {
  const path = fileURLToPath(new URL(`./${name}`, import.meta.url));
  const child = fork(path, args, { execArgv: ['--expose-gc'] });
  const exited = once(child, 'exit');
  const died = exited.then(([code, signal]) => {
    throw new LabError('MILLRACE_LAB_E_SERVER', `${name} ended with ${signal ?? code}`);
  });
  died.catch(() => {});
  const answer = async () => (await Promise.race([once(child, 'message'), died]))[0];
  return {
    pid: child.pid,
    first: await answer(),
    ask(question) {
      child.send(question);
      return answer();
    },
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** CPU that all threads of a process have used, µs, by the kernel's nanoseconds. */
export function cpuUs(pid) {
  const folder = `/proc/${pid}/task`;
  return readdirSync(folder).reduce((sum, thread) => {
    const [nanoseconds] = readFileSync(`${folder}/${thread}/schedstat`, 'latin1').split(' ');
    return sum + Number(nanoseconds) / 1000;
  }, 0);
}

/** Memory of a process, bytes. */
export const rss = (pid) =>
  Number(/^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;

/** What each of some processes uses within a number of seconds, in µs of CPU a second. */
export async function used(pids, seconds) {
  const before = pids.map(cpuUs);
  const start = performance.now();
  await sleep(seconds * 1000);
  const passed = (performance.now() - start) / 1000;
  return pids.map((pid, i) => (cpuUs(pid) - before[i]) / passed);
}
