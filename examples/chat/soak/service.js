/**
 * The service that a soak watches: the chat in the processes of a cluster with `millrace/auto`, the guard, a pool and the dashboard, over
 * NATS and PostgreSQL, or, in one process, over SQLite. It is started as an operator would start it; beside that, preload.js answers
 * questions over a socket of its own, V8 does not optimize, and both V8 and the C library keep as little free memory as can be: otherwise
 * their reserves, and not the data of the program, would decide how much memory is resident.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort, guard, LabError, newMark, strays } from '@millrace/lab/run';
import { startNats } from '../../../scripts/lib/nats.js';
import { findPostgres, startPostgres } from '../../../scripts/lib/postgres.js';
import { Disturbances, Ledger } from './ledger.js';
import { Links } from './link.js';
import { allowance } from './outcome.js';
import { countDescriptors } from './proc.js';

const PRIMARY = fileURLToPath(new URL('./primary.js', import.meta.url));
const PRELOAD = new URL('./preload.js', import.meta.url).href;
const AUTO = import.meta.resolve('millrace/auto');
const ALLOCATOR = fileURLToPath(new URL('./allocator.c', import.meta.url));

/**
 * Flags without V8's optimizing compilers: what they compile and learn grows for hours, by a per cent or two an hour, and is nobody's data.
 * With them a small leak could not be told from it.
 */
const PLAIN_CODE = [
  ...['--no-opt', '--no-maglev', '--no-sparkplug'],
  ...['--no-lazy-feedback-allocation', '--no-flush-bytecode'],
];

/** Flags for small reserves. By itself V8 keeps 30 MiB for new objects, or gives them back, as it likes: resident memory would tell of nothing else. */
const SMALL_RESERVES = ['--min-semi-space-size=2', '--max-semi-space-size=2'];

/** People would rather wait than come again: on a machine with much else to do handshakes take long. */
const SETTINGS = { guard: { maxWait: 10_000 } };

/** Lines on stderr of a service that is started, and of one that faults happen to. */
const EXPECTED = [
  /^millrace: the dashboard is at http:/,
  /^millrace.*: process \d+ .*(SIGKILL|killed)/,
];

const START_MS = 180_000;
const STOP_MS = 40_000;
const LEAVE_MS = 60_000;
/** An idle connection to the database, and an idle thread, are kept for 10 s. */
const REST_MS = { first: 15_000, most: 40_000 };

export class Service {
  url;
  databaseUrl;
  /** Broker, none in a service of one process. @type {Awaited<ReturnType<typeof startNats>> | undefined} */
  broker;
  ledger = new Ledger();
  disturbances = new Disturbances();
  watcher;
  /** Lines on stderr that nobody expects. @type {string[]} */
  unexpected = [];
  /** Processes that a fault has killed. @type {Set<number>} */
  killed = new Set();

  #database;
  #links;
  #child;
  #exited;
  #said = [];
  #mark = newMark();
  #guard = guard(this.#mark);

  /**
   * @param {string} dir for its files
   * @param {{ processes: number }} options
   * @throws {LabError} `MILLRACE_LAB_E_SERVER`
   */
  static async start(dir, { processes }) {
    const service = new Service();
    try {
      await service.#start(dir, processes);
      return service;
    } catch (error) {
      await service.stop();
      await service.remove();
      throw error;
    }
  }

  async #start(dir, workers) {
    const dataDir = join(dir, 'data');
    this.databaseUrl = join(dataDir, 'chat.db');
    if (workers > 1) {
      const bin = findPostgres();
      if (!bin) {
        throw new LabError(
          'MILLRACE_LAB_E_SERVER',
          'there is no PostgreSQL; on Debian: apt-get install postgresql',
        );
      }
      this.#database = await startPostgres(bin);
      this.databaseUrl = this.#database.url;
      this.broker = await startNats();
    }
    const settings = join(dir, 'millrace.config.json');
    await writeFile(settings, JSON.stringify(SETTINGS));
    const link = join(dir, 'link');
    this.#links = await Links.listen(link);
    const [port, dashboard] = [await freePort(), await freePort()];
    const options = {
      ...{ port, workers, dataDir },
      ...{ database: this.#database?.url, broker: this.broker?.url },
    };
    this.#child = spawn(
      process.execPath,
      [
        ...[...PLAIN_CODE, ...SMALL_RESERVES],
        ...['--expose-gc', '--import', PRELOAD, '--import', AUTO],
        ...[PRIMARY, JSON.stringify(options)],
      ],
      {
        env: {
          ...process.env,
          ...this.#mark,
          MILLRACE: 'guard,dashboard',
          MILLRACE_CONFIG: settings,
          MILLRACE_DASHBOARD: `127.0.0.1:${dashboard}`,
          MILLRACE_SOAK_LINK: link,
          MILLRACE_SOAK_ALLOCATOR: compileAllocator(dir),
        },
        cwd: dir,
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      },
    );
    this.#guard.group(this.#child.pid);
    this.#exited = once(this.#child, 'exit').then(([code, signal]) => code ?? signal);
    createInterface({ input: this.#child.stderr }).on('line', (line) => {
      this.#said.push(line);
      if (!EXPECTED.some((each) => each.test(line))) this.unexpected.push(line);
    });
    const lines = createInterface({ input: this.#child.stdout });
    const up = await Promise.race([
      once(lines, 'line').then(([line]) => line),
      this.#exited.then(() => null),
      sleep(START_MS, null, { ref: false }),
    ]);
    if (!up) throw this.#broken('did not come up');
    this.url = up.replace('listening on ', '');
    this.watcher = await watch(`http://127.0.0.1:${dashboard}/`);
  }

  get primaryPid() {
    return this.#child.pid;
  }

  get hasEnded() {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** @returns {Promise<{ wanted: number, ready: number, pids: number[], deaths: object[], bySlot: Map<number, number> }>} */
  async processes() {
    const { wanted, ready, processes, deaths } = await this.#links.primary.ask('cluster');
    const bySlot = new Map(processes.map(({ slot, pid }) => [slot, pid]));
    return { wanted, ready, deaths, bySlot, pids: [...bySlot.values()] };
  }

  /** Kills a process: its death is no failure of the service. @param {number} pid */
  kill(pid) {
    this.killed.add(pid);
    process.kill(pid, 'SIGKILL');
  }

  /** @param {number} slot */
  async pidOf(slot) {
    return (await this.processes()).bySlot.get(slot);
  }

  ask(pid, question, options) {
    const link = this.#links.of(pid);
    if (!link) throw new LabError('MILLRACE_LAB_E_SERVER', `process ${pid} is not there`);
    return link.ask(question, options);
  }

  /** Vitals of the primary and of each process by its slot. */
  async vitals(options) {
    const { bySlot } = await this.processes();
    const all = [
      ['primary', this.primaryPid],
      ...[...bySlot].map(([slot, pid]) => [`process ${slot}`, pid]),
    ];
    const found = await Promise.all(
      all.map(async ([who, pid]) => {
        try {
          return [
            who,
            {
              pid,
              ...(await this.ask(pid, 'vitals', options)),
              descriptors: countDescriptors(pid),
            },
          ];
        } catch {
          // It has been killed, and the next one is not there yet.
          return null;
        }
      }),
    );
    return Object.fromEntries(found.filter(Boolean));
  }

  /** Stats of the chat in each process. */
  async stats() {
    const { pids } = await this.processes();
    return Promise.all(pids.map((pid) => this.ask(pid, 'stats')));
  }

  /** Waits until each process has seen everybody leave. @returns {Promise<boolean>} */
  async left() {
    for (const until = performance.now() + LEAVE_MS; performance.now() < until; await sleep(100)) {
      const all = await this.stats();
      if (all.every(({ members, rooms }) => members === 0 && rooms === 0)) return true;
    }
    return false;
  }

  /**
   * Descriptors and handles of each when they have come down to `wanted`, or after 40 s.
   *
   * @param {Record<string, Record<string, number>> | undefined} wanted
   */
  async countsAtRest(wanted) {
    const allowed = allowance(wanted ?? {});
    const isAbove = (counts) =>
      Object.entries(counts).some(([who, now]) =>
        Object.entries(now).some(([what, count]) => count > allowed(who, what)),
      );
    // The first time it is what remains in the end.
    const ms = wanted ? REST_MS.most : REST_MS.first;
    for (const until = performance.now() + ms; ; await sleep(500)) {
      const counts = Object.fromEntries(
        Object.entries(await this.vitals({})).map(([who, { descriptors, handles, threads }]) => [
          who,
          { descriptors, threads, ...handles },
        ]),
      );
      if (performance.now() > until || (wanted && !isAbove(counts))) return counts;
    }
  }

  /**
   * Asks it to end, and ends it when it has not after a while.
   *
   * @returns {Promise<{ code: number | string, left: number[] }>} how it ended, and processes that it left
   */
  async stop() {
    this.watcher?.close();
    let code = null;
    let left = [];
    if (this.#child) {
      this.#child.kill('SIGTERM');
      const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS);
      code = await this.#exited;
      clearTimeout(timer);
      left = strays(this.#mark);
      for (const pid of left) process.kill(pid, 'SIGKILL');
      this.#child = undefined;
    }
    this.#guard.end();
    this.#links?.close();
    this.#links = undefined;
    return { code, left };
  }

  /** The broker and the database, which are looked into after the end. */
  async remove() {
    await this.broker?.kill();
    await this.#database?.remove();
  }

  #broken(what) {
    return new LabError(
      'MILLRACE_LAB_E_SERVER',
      `the service ${what}: ${this.#said.slice(-20).join('\n')}`,
    );
  }
}

/**
 * Compiles allocator.c, by which the processes of the service ask the C library.
 *
 * @param {string} folder to write into
 * @returns {string} the path of what `require()` loads; empty where the C library is not glibc, or there is no compiler
 */
export function compileAllocator(folder) {
  const library = join(folder, 'allocator.node');
  const args = ['-shared', '-fPIC', '-O1', '-Wall', '-Wextra', '-o', library, ALLOCATOR];
  return spawnSync('cc', args, { stdio: 'ignore' }).status === 0 ? library : '';
}

/**
 * Looks at the dashboard all the time.
 *
 * @param {string} url of the dashboard
 * @returns {Promise<{ events: number, bytes: number, isOpen: boolean, close: () => void }>}
 */
function watch(url) {
  return new Promise((resolve, reject) => {
    const asked = request(new URL('/api/events', url), { agent: false }, (answer) => {
      if (answer.statusCode !== 200) {
        asked.destroy();
        return reject(new Error(`the dashboard answered ${answer.statusCode}`));
      }
      const watcher = { events: 0, bytes: 0, isOpen: true, close: () => asked.destroy() };
      answer.on('data', (data) => {
        watcher.bytes += data.length;
        watcher.events += data.toString('latin1').split('\n\n').length - 1;
      });
      answer.on('error', () => {});
      answer.once('close', () => {
        watcher.isOpen = false;
      });
      resolve(watcher);
    });
    asked.once('error', reject);
    asked.end();
  });
}
