/** Which options go together, of an experiment without a file. */
import { existsSync } from 'node:fs';
import { UsageError } from '@millrace/base/command';
import { whyNotLocal } from '../load/loopback.js';
import { secondsOf } from './options.js';

const PROTOCOLS = ['raw', 'chat', 'socket.io'];
const AUDIENCES = ['everyone', 'others', 'sender'];

/** An open loop keeps every answer. */
const MOST_REQUESTS = 1_000_000;

/**
 * @param {import('./args.js').Options} options
 * @throws {UsageError} one sentence: the option, its value, what is allowed
 */
export function checkAdHoc(options) {
  const { control, treatment, url, ws, script, health } = options;
  for (const [name, command] of Object.entries({ control, treatment })) {
    if (command !== undefined) continue;
    throw new UsageError(`--${name} is missing; it takes the command that starts its server.`);
  }
  if (url.length === 0 && ws === undefined) {
    throw new UsageError('--url or --ws is missing; it says where the servers listen.');
  }
  if (url.length > 0 && ws !== undefined) {
    throw new UsageError('--url and --ws are both there; an experiment has one kind of load.');
  }
  checkUrls(url);
  if (ws !== undefined) checkUrl('ws', ws, 'ws:');
  if (health !== undefined && !health.startsWith('/')) {
    throw new UsageError(`--health is "${health}"; it takes a path, which begins with /.`);
  }
  if (script !== undefined && !existsSync(script)) {
    throw new UsageError(`--script is "${script}"; there is no file ${script}.`);
  }
  checkTogether(options);
  checkEvents(options);
  if (url.length > 0) checkRate(options);
}

function checkEvents({ protocol, event, reply, data, to, rate, ws }) {
  for (const [name, value] of Object.entries({ event, reply, data })) {
    if (value === undefined) continue;
    if (protocol !== 'socket.io')
      throw new UsageError(`--${name} belongs to --protocol socket.io.`);
    if (
      name !== 'data' &&
      (Buffer.byteLength(value) > 100 || JSON.stringify(value) !== `"${value}"`)
    ) {
      throw new UsageError(
        `--${name} is ${JSON.stringify(value)}; it takes a name of 1 to 100 bytes without " and \\\\.`,
      );
    }
  }
  if (data !== undefined && !isData(data)) {
    throw new UsageError(
      `--data is ${data}; it takes arguments as JSON, with the string "{text}" in them once.`,
    );
  }
  if (to === undefined) return;
  if (ws === undefined) throw new UsageError('--to belongs to --ws.');
  if (!AUDIENCES.includes(to)) {
    throw new UsageError(`--to is "${to}"; allowed are ${AUDIENCES.join(', ')}.`);
  }
  if (to === 'others' && rate === undefined) {
    throw new UsageError(
      '--to others needs --rate: without it a sender waits for its own message.',
    );
  }
}

/** One argument, or several with commas between them. */
function isData(text) {
  try {
    JSON.parse(`[${text}]`);
  } catch {
    return false;
  }
  return text.length <= 1000 && text.split('"{text}"').length === 2;
}

function checkTogether({ url, ws, script, protocol, rate, ignore, connections }) {
  if (protocol !== undefined && ws === undefined)
    throw new UsageError('--protocol belongs to --ws.');
  if (protocol !== undefined && !PROTOCOLS.includes(protocol)) {
    throw new UsageError(`--protocol is "${protocol}"; allowed are ${PROTOCOLS.join(', ')}.`);
  }
  if (script !== undefined && (url.length !== 1 || rate !== undefined)) {
    throw new UsageError(
      '--script needs one --url, which it is given, and has no --rate but its own.',
    );
  }
  if (ignore !== undefined && (ws !== undefined || script !== undefined)) {
    throw new UsageError(
      '--ignore belongs to --url without --script: other loads compare no bodies.',
    );
  }
  if (rate !== undefined && connections !== undefined && ws === undefined) {
    throw new UsageError(
      '--connections cannot be combined with --rate: requests that come at a rate take as many as they ' +
        'need; leave one of them out.',
    );
  }
}

function checkRate({ url, rate, size, ...options }) {
  if (rate === undefined) return;
  const seconds = secondsOf(options, size);
  const requests = rate * seconds;
  if (requests >= url.length && requests <= MOST_REQUESTS) return;
  throw new UsageError(
    `--rate ${rate} in --seconds ${seconds} makes ${Number(requests.toPrecision(3))} requests; allowed are ` +
      `${url.length} (one for each --url) to ${MOST_REQUESTS}.`,
  );
}

function checkUrls(urls) {
  for (const each of urls) checkUrl('url', each, 'http:');
  const twice = urls.find((each, i) => urls.indexOf(each) !== i);
  if (twice !== undefined) throw new UsageError(`--url "${twice}" is given twice; give it once.`);
  const origins = new Set(urls.map((each) => new URL(withPort(each)).origin));
  if (origins.size > 1) {
    throw new UsageError(`--url has ${[...origins].join(' and ')}; all must be of one server.`);
  }
}

/** Any number will do to look at an address. */
const withPort = (url) => url.replaceAll('{port}', '1');

function checkUrl(name, value, protocol) {
  const why = whyNotLocal(withPort(value), [protocol]);
  // A password is for nobody's log.
  const shown = value.replace(/\/\/[^/]*@/, '//…@');
  const hint =
    name === 'url' && value.startsWith('ws:') ? ' A WebSocket server goes with --ws.' : '';
  if (why !== null) throw new UsageError(`--${name} is "${shown}"; it ${why}.${hint}`);
}
