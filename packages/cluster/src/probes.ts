/**
 * Probes and metrics of all processes on one port, in the primary, which has nothing that blocks it. It asks the watch of each process, which
 * answers while the process is blocked:
 *
 * - `/live` fails when each process has been blocked for `liveAfter`. One that hangs beside others that work is no reason to kill all.
 * - `/ready` fails when no process is ready: it does not listen yet, drains, or has been blocked for `readyAfter`.
 * - `/metrics` has the metrics of each watch, with the labels `slot` and `process`.
 * - `/stalls` has the current stalls, and the recent ones of all processes.
 *
 * A process whose watch does not answer in time counts as not ready, and is left out elsewhere. One without a watch counts as the primary
 * knows it.
 */
import { createServer, get, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { uncounted } from '@millrace/monitor';
import type { ProbeOptions, Stall } from '@millrace/monitor/stalls';
import type { ClusterProcess } from './process.js';
import type { ClusterStall } from './stalls.js';

/** State of the cluster, for the probes. */
interface Probed {
  processes(): readonly ClusterProcess[];
  isClosing(): boolean;
  recentStalls(): readonly ClusterStall[];
}

/** Answer to a probe. */
interface Answer {
  readonly status: number;
  readonly body: string;
  readonly type?: string;
}

/** Answer of the watch of a process. silent: none in time; unknown: there is no watch. */
type Told = Answer | 'silent' | 'unknown';

/** Timeout in ms of a watch, which has nothing else to do. */
const watchMs = 1000;
const mostConnections = 64;
const requestTimeoutMs = 5000;
const paths = ['/live', '/ready', '/metrics', '/stalls'];

/** Address of the probes. */
export interface ProbesAddress {
  readonly host: string;
  readonly port: number;
}

/** Server of the probes. It keeps nothing alive. */
export class ClusterProbes {
  address: ProbesAddress | null = null;
  readonly #cluster: Probed;
  readonly #server: Server;

  constructor(cluster: Probed) {
    this.#cluster = cluster;
    this.#server = createServer(
      { requestTimeout: requestTimeoutMs },
      ({ method, url = '' }, response) => void this.#respond(method, url.split('?')[0]!, response),
    );
    this.#server.maxConnections = mostConnections;
    uncounted(this.#server);
  }

  /** Listens. Resolves with the reason if that is not possible, else with null. */
  listen({ host, port }: Required<Pick<ProbeOptions, 'host' | 'port'>>): Promise<string | null> {
    const server = this.#server.unref();
    return new Promise((resolve) => {
      server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
        const why = code === 'EADDRINUSE' ? 'the port is taken; choose another one' : message;
        resolve(`probes cannot listen on ${host}:${port}: ${why}`);
      });
      server.listen({ host, port }, () => {
        this.address = { host, port: (server.address() as AddressInfo).port };
        resolve(null);
      });
    });
  }

  close(): void {
    this.address = null;
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #respond(method: string | undefined, path: string, response: ServerResponse) {
    const isRead = method === 'GET' || method === 'HEAD';
    const answer = isRead ? await this.#answer(path) : { status: 405, body: 'only GET and HEAD\n' };
    response.writeHead(answer.status, {
      'content-type': answer.type ?? 'text/plain; charset=utf-8',
      'content-length': Buffer.byteLength(answer.body),
      'cache-control': 'no-store',
      // A kept connection may close at the moment of the next probe, which would fail.
      connection: 'close',
      ...(isRead ? {} : { allow: 'GET, HEAD' }),
    });
    response.end(method === 'HEAD' ? undefined : answer.body);
  }

  async #answer(path: string): Promise<Answer> {
    if (!paths.includes(path)) {
      return { status: 404, body: 'there are /live, /ready, /metrics and /stalls\n' };
    }
    const processes = this.#cluster.processes();
    const all = await Promise.all(
      processes.map(async (process) => ({ process, told: await ask(process.watch, path) })),
    );
    const answers = all.flatMap(({ process, told }) =>
      typeof told === 'string' ? [] : [{ process, answer: told }],
    );
    switch (path) {
      case '/live':
        return all.length > 0 &&
          answers.length === all.length &&
          answers.every(({ answer }) => answer.status !== 200)
          ? { status: 503, body: linesOf(answers) }
          : { status: 200, body: 'live\n' };
      case '/ready':
        if (this.#cluster.isClosing()) return { status: 503, body: 'the cluster is closing\n' };
        return all.some(isReady)
          ? { status: 200, body: 'ready\n' }
          : { status: 503, body: `no process is ready\n${linesOf(answers)}` };
      case '/metrics':
        return {
          status: 200,
          body: merged(answers),
          type: 'text/plain; version=0.0.4; charset=utf-8',
        };
      default: {
        const current = answers.flatMap(({ process: { slot, pid }, answer }) => {
          const stall = (JSON.parse(answer.body) as { current: Stall | null }).current;
          return stall === null ? [] : [{ ...stall, slot, pid }];
        });
        const body = `${JSON.stringify({ current, recent: this.#cluster.recentStalls() })}\n`;
        return { status: 200, body, type: 'application/json' };
      }
    }
  }
}

interface Answered {
  readonly process: ClusterProcess;
  readonly answer: Answer;
}

function isReady({ process, told }: { process: ClusterProcess; told: Told }): boolean {
  if (process.state !== 'ready' || told === 'silent') return false;
  return told === 'unknown' || told.status === 200;
}

const linesOf = (answers: readonly Answered[]): string =>
  answers
    .map(({ process: { slot, pid }, answer }) => `process ${pid} (slot ${slot}): ${answer.body}`)
    .join('');

/** Asks the watch of a process. */
function ask(address: ProbesAddress | null, path: string): Promise<Told> {
  if (address === null) return Promise.resolve('unknown');
  const host = ['0.0.0.0', '::'].includes(address.host) ? '127.0.0.1' : address.host;
  return new Promise((resolve) => {
    const request = get(
      { host, port: address.port, path, agent: false, timeout: watchMs },
      (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          body += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode!, body }));
        response.on('error', () => resolve('silent'));
      },
    );
    request.on('timeout', () => {
      resolve('silent');
      request.destroy();
    });
    // The application has a watch of its own by now, without probes; or the process is ending.
    request.on('error', () => resolve('unknown'));
  });
}

/** Merges texts of metrics: each family once, and each line with its process. */
function merged(answers: readonly Answered[]): string {
  const families = new Map<string, { head: string; lines: string }>();
  for (const { process, answer } of answers) {
    const mine = `slot="${process.slot}",process="${process.pid}"`;
    for (const line of answer.body.split('\n')) {
      const [, name, labels, value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const key = name ?? line.split(' ')[2];
      if (key === undefined) continue;
      const family = families.get(key) ?? { head: '', lines: '' };
      families.set(key, family);
      if (name === undefined) family.head += family.lines === '' ? `${line}\n` : '';
      else
        family.lines += `${name}{${labels === undefined ? mine : `${labels},${mine}`}} ${value}\n`;
    }
  }
  return [...families.values()].map(({ head, lines }) => head + lines).join('');
}
