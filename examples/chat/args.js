import { parseArgs } from 'node:util';
import { limits } from './limits.js';

export const USAGE = `Usage: node server.js [options]

  --policy NAME       how events travel: direct, fixed or adaptive
                      (default adaptive)
  --max-delay MS      longest hold of a batch, 0 to 1000
                      (default 0; 50 with --policy fixed)
  --port N            0 to 65535 (default 8080; if it is taken, the next
                      free one; 0: any)
  --host ADDRESS      (default 127.0.0.1)
  --database PATH|URL SQLite file or postgres:// URL (default
                      $DATABASE_URL, else chat.db in the data dir)
  --broker URL        nats:// of a broker that joins several servers
                      (default $BROKER_URL, else none)
  --digests           SHA-256 of each uploaded file, by worker threads;
                      not for direct
  --data-dir DIR      files, database and audit log (default: a temporary
                      one, removed at the end)
  --flood-limit N     frames a second and client, 0 to 100000, 0: off
                      (default ${limits.floodPerSecond})
  --drain-delay MS    from the signal on: not ready, and serving still,
                      0 to 60000 (default 0)
  --stop-timeout MS   how long the stop then waits for commits, 100 to 600000
                      (default ${limits.stopMs})
  --quiet             print the address line only
  --help`;

const POLICIES = ['direct', 'fixed', 'adaptive'];

const OPTIONS = {
  policy: { type: 'string' },
  'max-delay': { type: 'string' },
  port: { type: 'string' },
  host: { type: 'string' },
  database: { type: 'string' },
  broker: { type: 'string' },
  digests: { type: 'boolean' },
  'data-dir': { type: 'string' },
  'flood-limit': { type: 'string' },
  'drain-delay': { type: 'string' },
  'stop-timeout': { type: 'string' },
  quiet: { type: 'boolean' },
  help: { type: 'boolean' },
};

/** Options of the command line. @throws {Error} with one sentence: the option, its value, what is allowed */
export function readArgs(argv, env = process.env) {
  const values = parse(argv);
  const policy = values.policy ?? 'adaptive';
  if (!POLICIES.includes(policy)) {
    throw new Error(`--policy is ${shown(policy)}; allowed are ${POLICIES.join(', ')}.`);
  }
  const database = values.database ?? (env.DATABASE_URL || undefined);
  checkText('--database', database);
  checkText('--data-dir', values['data-dir']);
  checkText('--host', values.host);
  if (
    database !== undefined &&
    /^[a-z]+:\/\//i.test(database) &&
    !/^postgres(ql)?:\/\//.test(database)
  ) {
    const scheme = database.slice(0, database.indexOf(':'));
    throw new Error(
      `--database has the scheme ${shown(scheme)}; allowed are a path and postgres:// URLs.`,
    );
  }
  const broker = values.broker ?? (env.BROKER_URL || undefined);
  if (broker !== undefined && !/^(nats|tls):\/\/./.test(broker)) {
    throw new Error('--broker is no URL of a broker; allowed are nats:// and tls:// URLs.');
  }
  if (broker !== undefined && policy === 'direct') {
    throw new Error('--broker is for --policy fixed and adaptive; direct knows no other servers.');
  }
  const digests = values.digests ?? false;
  if (digests && policy === 'direct') {
    throw new Error('--digests is for --policy fixed and adaptive; direct has no worker threads.');
  }
  return {
    policy,
    broker,
    digests,
    maxDelay: wholeNumber('--max-delay', values['max-delay'], 0, 1000, policy === 'fixed' ? 50 : 0),
    port: wholeNumber('--port', values.port, 0, 65_535, 8080),
    host: values.host ?? '127.0.0.1',
    database,
    dataDir: values['data-dir'],
    floodLimit: wholeNumber(
      '--flood-limit',
      values['flood-limit'],
      0,
      100_000,
      limits.floodPerSecond,
    ),
    drainDelay: wholeNumber('--drain-delay', values['drain-delay'], 0, 60_000, 0),
    limits: {
      stopMs: wholeNumber('--stop-timeout', values['stop-timeout'], 100, 600_000, limits.stopMs),
    },
    quiet: values.quiet ?? false,
    help: values.help ?? false,
  };
}

function parse(argv) {
  const { tokens, values } = parseArgs({
    args: argv,
    options: OPTIONS,
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  for (const token of tokens) {
    if (token.kind === 'positional') {
      throw new Error(`${shown(token.value)} is not an option; allowed are ${names()}.`);
    }
    if (token.kind !== 'option') continue;
    const option = OPTIONS[token.name];
    if (option === undefined)
      throw new Error(`${token.rawName} is not an option; allowed are ${names()}.`);
    if (option.type === 'string' && token.value === undefined) {
      throw new Error(`--${token.name} has no value; write --${token.name} VALUE.`);
    }
    if (option.type === 'boolean' && token.value !== undefined) {
      throw new Error(`--${token.name} is ${shown(token.value)}; it takes no value.`);
    }
  }
  return values;
}

function wholeNumber(name, value, least, most, otherwise) {
  if (value === undefined) return otherwise;
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < least || number > most) {
    throw new Error(
      `${name} is ${shown(value)}; allowed are whole numbers from ${least} to ${most}.`,
    );
  }
  return number;
}

function checkText(name, value) {
  if (value !== undefined && value.trim() === '') {
    throw new Error(`${name} is ${shown(value)}; allowed is any text that is not empty.`);
  }
}

function shown(value) {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}

function names() {
  return Object.keys(OPTIONS)
    .map((name) => `--${name}`)
    .join(', ');
}
