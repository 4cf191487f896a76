/**
 * Probes and metrics of all processes on one port, in the primary, which has nothing that blocks it. It asks the watch of each process, which
 * answers while the process is blocked:
 *
 * - `/live` fails when each process has been blocked for `liveAfter`. One that hangs beside others that work is no reason to kill all.
 * - `/ready` fails when no process is ready: it does not listen yet, drains, or has been blocked for `readyAfter`.
 * - `/metrics` has the metrics of each watch, with the labels `slot` and `process`.
 * - `/stalls` has the current stalls, and the recent ones of all processes.
 *
 * An answer counts only if the process itself gives it: where a watch has ended, another program may have its port. A process without an
 * answer counts as the primary knows it, and is left out of `/metrics` and `/stalls`. One whose watch does not answer in time is ready if
 * its loop answers.
 */
import { get } from 'node:http';
import { type ProbeAnswer, ProbeServer, pidHeader } from '@millrace/base/probe-server';
import { clearTimeout, setTimeout } from '@millrace/base/timers';
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

/** Answer of the watch of a process. silent: none in time; unknown: there is no watch, or another program has its port. */
type Told = ProbeAnswer | 'silent' | 'unknown';

const paths = ['/live', '/ready', '/metrics', '/stalls'] as const;
type Path = (typeof paths)[number];

/** Time in ms for the whole answer of a watch, which has nothing else to do, and for that of a loop. */
const answerMs = 1000;
/** Longest answer of a watch in UTF-16 units: some ten times a hundred stalls with long paths. */
const longestAnswer = 4 * 2 ** 20;

/** Address of the probes. */
export interface ProbesAddress {
  readonly host: string;
  readonly port: number;
}

/** Server of the probes. It keeps nothing alive. */
export class ClusterProbes {
  address: ProbesAddress | null = null;
  readonly #cluster: Probed;
  readonly #server: ProbeServer<Path>;

  constructor(cluster: Probed) {
    this.#cluster = cluster;
    this.#server = new ProbeServer(paths, (path) => this.#answer(path));
    uncounted(this.#server.http);
  }

  /** Listens. Resolves with the reason if that is not possible, else with null. */
  async listen({
    host,
    port,
  }: Required<Pick<ProbeOptions, 'host' | 'port'>>): Promise<string | null> {
    const why = await this.#server.listen({ host, port });
    const bound = this.#server.port;
    if (bound !== null) this.address = { host, port: bound };
    return why;
  }

  close(): void {
    this.address = null;
    void this.#server.close();
  }

  async #answer(path: Path): Promise<ProbeAnswer> {
    const processes = this.#cluster.processes();
    const all = await Promise.all(
      processes.map(async (process) => ({ process, told: await ask(process, path) })),
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
        return (await isAnyReady(all))
          ? { status: 200, body: 'ready\n' }
          : { status: 503, body: `no process is ready\n${linesOf(answers)}` };
      case '/metrics':
        return {
          status: 200,
          body: merged(answers),
          type: 'text/plain; version=0.0.4; charset=utf-8',
        };
      case '/stalls': {
        const current = answers.flatMap(({ process: { slot, pid }, answer }) => {
          const stall = currentStall(answer);
          return stall === null ? [] : [{ ...stall, slot, pid }];
        });
        const body = `${JSON.stringify({ current, recent: this.#cluster.recentStalls() })}\n`;
        return { status: 200, body, type: 'application/json' };
      }
    }
  }
}

interface Asked {
  readonly process: ClusterProcess;
  readonly told: Told;
}

interface Answered {
  readonly process: ClusterProcess;
  readonly answer: ProbeAnswer;
}

/** Reports whether one of them is ready. Where only silent watches are left, it asks the loops of their processes. */
async function isAnyReady(all: readonly Asked[]): Promise<boolean> {
  const listening = all.filter(({ process }) => process.state === 'ready');
  const isKnown = listening.some(
    ({ told }) => told === 'unknown' || (told !== 'silent' && told.status === 200),
  );
  if (isKnown) return true;
  const silent = listening.filter(({ told }) => told === 'silent');
  const reports = await Promise.all(silent.map(({ process }) => process.report(answerMs)));
  return reports.some((report) => report !== null);
}

const linesOf = (answers: readonly Answered[]): string =>
  answers
    .map(({ process: { slot, pid }, answer }) => `process ${pid} (slot ${slot}): ${answer.body}`)
    .join('');

/** Returns the current stall that an answer tells; null for none, and for an answer that tells nothing. */
function currentStall({ body }: ProbeAnswer): Stall | null {
  try {
    const { current } = JSON.parse(body) as { current?: Stall | null };
    return typeof current === 'object' ? current : null;
  } catch {
    return null;
  }
}

/** Asks the watch of a process. Resolves within {@link answerMs}, whatever listens on its port. */
function ask({ watch, pid }: ClusterProcess, path: Path): Promise<Told> {
  if (watch === null) return Promise.resolve('unknown');
  const host = ['0.0.0.0', '::'].includes(watch.host) ? '127.0.0.1' : watch.host;
  return new Promise((resolve) => {
    const request = get({ host, port: watch.port, path, agent: false });
    const end = (told: Told) => {
      clearTimeout(timer);
      resolve(told);
      request.destroy();
    };
    const timer = setTimeout(() => end('silent'), answerMs);
    // The application has a watch of its own by now, without probes; or the process is ending.
    request.on('error', () => end('unknown'));
    request.on('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
        if (body.length > longestAnswer) end('unknown');
      });
      response.on('end', () => end({ status, body }));
      response.on('error', () => end('unknown'));
      const isOurs = headers[pidHeader] === String(pid) && (status === 200 || status === 503);
      if (!isOurs) end('unknown');
    });
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
