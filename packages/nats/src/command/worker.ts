/**
 * The program `millrace-worker`: a process with a {@link TaskWorker}, or a look at its stream. It works until a signal ends it; each
 * thing that happens meanwhile is a line on stdout.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  absent,
  asGiven,
  asValue,
  type Given,
  type Options,
  optionLines,
  print,
  Refusal,
  readOptions,
  tell,
  UsageError,
} from '@millrace/base/command';
import { MillraceError } from '@millrace/base/errors';
import { wallClock } from '@millrace/base/timers';
import { thisPackage } from '../package.cjs';
import type { TaskWorker, TaskWorkerOptions } from '../tasks/index.js';
import { operate } from './stream.js';

const OPTIONS: Options = {
  stream: { value: 'NAME', meaning: 'the stream of the tasks; required' },
  broker: { value: 'URL', meaning: '$MILLRACE_BROKER, or nats://127.0.0.1:4222' },
  namespace: { value: 'NAME', meaning: 'of the fleet (millrace)' },
  credentials: { value: 'FILE', meaning: 'a .creds file of NATS' },
  threads: { value: 'N', meaning: 'at most (the CPUs of this process)' },
  concurrency: { value: 'N', meaning: 'concurrent tasks per thread (1)' },
  attempts: { value: 'N', meaning: 'how often a task may fail (5)' },
  backoff: { value: 'MS', meaning: 'wait before a retry, which doubles (1000); or a,b,c' },
  batch: { value: 'N', meaning: 'tasks of each priority to hold (what 100 ms take)' },
  'close-timeout': { value: 'MS', meaning: 'for running tasks to finish at SIGTERM (30000)' },
  json: { meaning: 'a line of JSON for each event' },
  lag: { meaning: 'prints how much work is left, and exits' },
  dead: { meaning: 'prints the dead letters, and exits' },
  'retry-dead': { meaning: 'turns the dead letters into tasks again, and exits' },
  version: { meaning: 'the version of @millrace/nats' },
};

const USAGE = `Usage: millrace-worker FILE --stream NAME [options]
       millrace-worker --stream NAME --lag | --dead | --retry-dead

Runs durable tasks that new TaskClient({ broker, stream }) has stored: calls
the functions that FILE exports, by name, on worker threads. Start as many
workers as you like, on as many machines as you like.

  millrace-worker tasks.js --stream thumbnails
  millrace-worker tasks.js --stream thumbnails --broker nats://nats:4222
  millrace-worker --stream thumbnails --lag

A function gets the task and a context: export function thumbnail(task, { id }).
A program stores tasks by client.run(task, { name: 'thumbnail' }) or enqueue().

${optionLines(OPTIONS)}

Put a password into $MILLRACE_BROKER: others can see --broker.
SIGTERM and SIGINT: takes no more tasks, finishes the running ones, gives back
the rest; a second signal ends it at once. If the broker goes away, it waits.
Exit codes: 0 done, 1 it cannot work (no broker, another stream, a FILE that
cannot be loaded), 2 wrong command line, 128 + n after a second signal n.`;

async function run(argv: readonly string[]): Promise<void> {
  const { values, file } = read(argv);
  if (values.help) {
    print(USAGE);
    return;
  }
  if (values.version) {
    print(thisPackage.version);
    return;
  }
  const stream = values.stream as string | undefined;
  if (stream === undefined) throw new UsageError('--stream NAME is missing.');
  const asked = ['lag', 'dead', 'retry-dead'].filter((name) => values[name]);
  if (asked.length > 1) throw new UsageError(`--${asked.join(' and --')} cannot be combined.`);
  const isJson = values.json === true;
  const broker = brokerOf(values);
  const [what] = asked;
  if (what !== undefined) {
    if (file !== undefined) throw new UsageError(`--${what} takes no FILE, but there is ${file}.`);
    await attempt(() => operate(what, broker, stream, isJson));
    return;
  }
  const options = { ...optionsOf(values), broker, stream, filename: fileOf(file) };
  await attempt(() => serve(options, stream, isJson));
}

/** Options may come before or after the file. */
function read(argv: readonly string[]): { values: Given['values']; file: string | undefined } {
  const first = readOptions(argv, OPTIONS);
  const [file, ...others] = first.rest;
  const second = readOptions(others, OPTIONS);
  if (second.rest.length > 0)
    throw new UsageError(`there is a second FILE, ${second.rest[0]}; one is enough.`);
  return { values: { ...first.values, ...second.values }, file };
}

function fileOf(file: string | undefined): string {
  if (file === undefined) throw new UsageError('FILE, the file with the functions, is missing.');
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return resolve(file);
  throw absent(file);
}

function brokerOf(values: Given['values']): TaskWorkerOptions['broker'] {
  const text = (name: string) => values[name] as string | undefined;
  const servers = text('broker') ?? process.env.MILLRACE_BROKER ?? 'nats://127.0.0.1:4222';
  const [namespace, credentials] = [text('namespace'), text('credentials')];
  return {
    servers,
    ...(namespace !== undefined && { namespace }),
    ...(credentials !== undefined && { credentials }),
  };
}

const numbers = {
  threads: 'maxThreads',
  concurrency: 'concurrentTasksPerWorker',
  attempts: 'attempts',
  batch: 'batch',
  'close-timeout': 'closeTimeout',
} as const;

/** The flag of each option whose name is another. */
const flags = {
  ...Object.fromEntries(Object.entries(numbers).map(([flag, option]) => [option, flag])),
  servers: 'broker',
};

function optionsOf(values: Given['values']): Partial<TaskWorkerOptions> {
  const options: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(numbers)) {
    if (values[name] !== undefined) options[option] = asValue(values[name] as string);
  }
  if (values.backoff !== undefined) {
    const times = (values.backoff as string).split(',').map(asValue);
    options.backoff = times.length === 1 ? times[0] : times;
  }
  return options;
}

/** An option that is wrong is the command line's fault, a broker that is away is not. */
async function attempt(what: () => Promise<void>): Promise<void> {
  try {
    await what();
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    if (error.code === 'MILLRACE_E_INVALID_OPTION') {
      throw new UsageError(`${asGiven(error.message, flags)}.`);
    }
    throw new Refusal(`${error.message}.`);
  }
}

async function serve(options: TaskWorkerOptions, stream: string, isJson: boolean): Promise<void> {
  // Not with the other imports: it loads the pool.
  const { TaskWorker } = await import('../tasks/index.js');
  const worker = new TaskWorker(options);
  try {
    await worker.ready();
  } catch (error) {
    await worker.close();
    throw error;
  }
  const log = logTo(worker, stream, isJson);
  await closedBySignal(worker, log);
}

/** Resolves when it has ended after a signal. */
function closedBySignal(worker: TaskWorker, log: (what: string) => void): Promise<void> {
  return new Promise((resolve) => {
    let isClosing = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (isClosing) process.exit(signal === 'SIGINT' ? 130 : 143);
        isClosing = true;
        log(signal);
        void worker.close().then(resolve);
      });
    }
  });
}

/** Writes a line to stdout for each thing that happens. Returns a function that writes that the worker was told to end. */
function logTo(worker: TaskWorker, stream: string, isJson: boolean): (signal: string) => void {
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

try {
  await run(process.argv.slice(2));
} catch (error) {
  tell('millrace-worker', error);
}
