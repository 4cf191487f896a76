import { parseArgs } from 'node:util';
import { CONNECTIONS, MAX_CONNECTIONS, MAX_LOAD } from './settings.js';

export const USAGE = `Usage: node main.js [options]

  --port N         of the page, 0 to 65535 (default 8090; 0: any)
  --turn S         how long each server has its turn, seconds, 1 to 60
                   (default 10)
  --seed N         of the arrivals and their kinds, 0 to 4294967295 (default 1)
  --connections N  of clients that are there when the load begins, 0 to ${MAX_CONNECTIONS}
                   (default ${CONNECTIONS})
  --capacity N     requests a second that one server can do, 1 to 100
                   (default: measured, for 3 s)

  --compare        no page: all servers one after the other, and a table
  --seconds S      how long each, 1 to 60 (default 5)
  --load X         offered load, as a multiple of one server's capacity,
                   0.1 to ${MAX_LOAD} (default 2)
  --clients N      in place of --load: clients that ask again when answered,
                   1 to ${MAX_CONNECTIONS}
  --help`;

const OPTIONS = {
  port: { type: 'string' },
  turn: { type: 'string' },
  seed: { type: 'string' },
  connections: { type: 'string' },
  capacity: { type: 'string' },
  compare: { type: 'boolean' },
  seconds: { type: 'string' },
  load: { type: 'string' },
  clients: { type: 'string' },
  help: { type: 'boolean' },
};

/** Options of the command line. @throws {Error} with one sentence: the option, its value, what is allowed */
export function readArgs(argv) {
  const { values } = parse(argv);
  if (values.load !== undefined && values.clients !== undefined) {
    throw new Error('--load and --clients are two kinds of load; give one of them.');
  }
  if (values.connections !== undefined && values.clients !== undefined) {
    throw new Error('--connections is for arrivals; each of --clients has one of its own.');
  }
  for (const name of ['seconds', 'load', 'clients']) {
    if (values[name] !== undefined && !values.compare) {
      throw new Error(`--${name} is an option of --compare.`);
    }
  }
  const number = (name, least, most, otherwise, pattern = /^\d+$/) => {
    const value = values[name];
    if (value === undefined) return otherwise;
    if (!pattern.test(value) || Number(value) < least || Number(value) > most) {
      const kind = pattern.test('1.5') ? 'numbers' : 'whole numbers';
      throw new Error(
        `--${name} is ${JSON.stringify(value)}; allowed are ${kind} from ${least} to ${most}.`,
      );
    }
    return Number(value);
  };
  return {
    port: number('port', 0, 65_535, 8090),
    turn: number('turn', 1, 60, 10),
    connections: number('connections', 0, MAX_CONNECTIONS, CONNECTIONS),
    capacity: number('capacity', 1, 100, undefined, /^\d+(\.\d+)?$/),
    seed: number('seed', 0, 2 ** 32 - 1, 1),
    compare: values.compare ?? false,
    seconds: number('seconds', 1, 60, 5),
    load: number('load', 0.1, MAX_LOAD, 2, /^\d+(\.\d+)?$/),
    clients: number('clients', 1, MAX_CONNECTIONS, undefined),
    help: values.help ?? false,
  };
}

function parse(argv) {
  try {
    return parseArgs({ args: argv, options: OPTIONS });
  } catch (error) {
    throw new Error(`${error.message.split('. ')[0]}. --help lists the options.`);
  }
}
