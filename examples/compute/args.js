import { parseArgs } from 'node:util';
import { BLOCKING_N, MOST_N, QUEUE } from './settings.js';

export const USAGE = `Usage: node main.js [options]

  --port N       0 to 65535 (default 3000; 0: any)
  --host ADDRESS (default 127.0.0.1)
  --threads N    threads of the pool at most, 1 to 256 (default: the cores
                 that this process may use)
  --queue N      tasks that may wait for a thread, 0 to 100000 (default ${QUEUE})
  --photos URL   of a photo service, http or https (default: one of its own,
                 on this machine)
  --data DIR     folder whose files /process-file may be asked for (default: a
                 sample, made when it is asked for)
  --blocking-n N n by additions on the main thread at most, 1 to ${MOST_N.paper}
                 (default ${BLOCKING_N})
  --cluster      several processes on one port
  --workers N    how many with --cluster, 1 to 256 (default: as many as find
                 room for a thread each beside them)
  --help`;

const OPTIONS = {
  port: { type: 'string' },
  host: { type: 'string' },
  threads: { type: 'string' },
  queue: { type: 'string' },
  photos: { type: 'string' },
  data: { type: 'string' },
  'blocking-n': { type: 'string' },
  cluster: { type: 'boolean' },
  workers: { type: 'string' },
  help: { type: 'boolean' },
};

/** Options of the command line. @throws {Error} with one sentence: the option, its value, what is allowed */
export function readArgs(argv) {
  const values = parse(argv);
  const number = (name, least, most, otherwise) => {
    const value = values[name];
    if (value === undefined) return otherwise;
    if (!/^\d+$/.test(value) || Number(value) < least || Number(value) > most) {
      refuse(name, value, `whole numbers from ${least} to ${most}`);
    }
    return Number(value);
  };
  for (const name of ['host', 'data']) {
    if (values[name]?.trim() === '') refuse(name, values[name], 'any text that is not empty');
  }
  if (values.workers !== undefined && !values.cluster) {
    throw new Error('--workers is an option of --cluster.');
  }
  if (values.photos !== undefined && !isHttp(values.photos)) {
    refuse('photos', values.photos, 'http and https URLs');
  }
  return {
    port: number('port', 0, 65_535, 3000),
    host: values.host ?? '127.0.0.1',
    threads: number('threads', 1, 256, undefined),
    queue: number('queue', 0, 100_000, QUEUE),
    photos: values.photos,
    data: values.data,
    blockingN: number('blocking-n', 1, MOST_N.paper, BLOCKING_N),
    cluster: values.cluster ?? false,
    workers: number('workers', 1, 256, undefined),
    help: values.help ?? false,
  };
}

function parse(argv) {
  try {
    return parseArgs({ args: argv, options: OPTIONS }).values;
  } catch (error) {
    throw new Error(`${error.message.split('. ')[0]}. --help lists the options.`);
  }
}

function refuse(name, value, allowed) {
  throw new Error(`--${name} is ${JSON.stringify(value)}; allowed are ${allowed}.`);
}

function isHttp(text) {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
