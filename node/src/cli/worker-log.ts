/** What a worker of durable tasks reports, line by line: text for people, or JSON for log shippers. */

import { wallClock } from '../core/timers.cjs';
import type { TaskWorker } from '../nats/tasks/index.js';
import { print } from './output.js';

/** Writes a line to stdout for each thing that happens. Returns a function that writes that the worker was told to end. */
export function logTo(
  worker: TaskWorker,
  stream: string,
  isJson: boolean,
): (signal: string) => void {
  const write = (event: string, fields: Record<string, unknown>, text: string) => {
    const time = new Date(wallClock.now()).toISOString();
    print(isJson ? JSON.stringify({ time, event, ...fields }) : `${time} ${event}: ${text}`);
  };
  const { pid } = process;
  const up = () => write('up', { pid, stream }, `process ${pid} takes tasks of ${stream}`);
  up();
  worker.on('up', up);
  worker.on('down', ({ code, message }) => write('down', { code, error: message }, message));
  worker.on('retry', (task) => {
    const { id, name, delivery, delayMs, error } = task;
    const text = `${label(id, name)}, delivery ${delivery}, again in ${delayMs} ms: ${error}`;
    write('retry', { ...task }, text);
  });
  worker.on('dead', (task) => {
    const { id, name, delivery, error } = task;
    write('dead', { ...task }, `${label(id, name)}, delivery ${delivery}: ${error}`);
  });
  worker.on('close', () => {
    const { done, failed, dead, returned } = worker.stats();
    const text = `${done} done, ${failed} failed, ${dead} dead, ${returned} given back`;
    write('close', { done, failed, dead, returned }, text);
  });
  return (signal) => write('closing', { signal }, `${signal}; ends what runs`);
}

const label = (id: string, name: string) => (name === '' ? id : `${id} (${name})`);
