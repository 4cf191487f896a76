/** A nats-server of a test's own, on a free port of the loopback. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { find } from '../../../scripts/debian.js';
import { guard } from './guard.js';

export const command = find('nats-server');
/** What a test says that cannot run without it. */
export const unable = command === undefined && 'nats-server is not installed';

/**
 * Starts one; it ends with the test. `config` is text of a configuration file of NATS; `through` are words of a command that
 * runs it, for a network of its own, where `host` is an address of it.
 *
 * @param {import('node:test').TestContext} t
 * @param {{ jetstream?: boolean, config?: string, host?: string, through?: string[] }} [options]
 * @returns {Promise<NatsServer>}
 */
export async function natsServer(
  t,
  { jetstream = false, config = '', host = '127.0.0.1', through = [] } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-nats-'));
  const server = new NatsServer(folder, { jetstream, config, host, through });
  t.after(async () => {
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  await server.start();
  return server;
}

class NatsServer {
  #options;
  #child = null;
  port = -1;
  /** Where other servers of its cluster find it, if its configuration has a `cluster`. */
  clusterPort = -1;

  /** @param {string} folder of its files */
  constructor(folder, options) {
    this.folder = folder;
    this.#options = options;
  }

  get url() {
    return `nats://${this.#options.host}:${this.port}`;
  }

  get pid() {
    return this.#child.pid;
  }

  /** Starts it: the first time on a port that it chooses, then always on that one, with the streams that it had. `changed` options last. */
  async start(changed = {}) {
    Object.assign(this.#options, changed);
    const { jetstream, config, host, through } = this.#options;
    const file = join(this.folder, 'nats.conf');
    writeFileSync(file, config);
    const args = ['-c', file, '-a', host, '-p', String(this.port)];
    if (jetstream) args.push('-js', '-sd', join(this.folder, 'streams'));
    const [program, ...words] = [...through, command, ...args];
    const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    guard(child, [this.folder]);
    let log = '';
    child.stderr.setEncoding('utf8');
    await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`nats-server ended with ${code}: ${log}`)));
      child.stderr.on('data', (text) => {
        log += text;
        const port = /Listening for client connections on \S+:(\d+)/.exec(log)?.[1];
        if (port === undefined) return;
        this.port = Number(port);
        const routes = /Listening for route connections on \S+:(\d+)/.exec(log)?.[1];
        if (routes !== undefined) this.clusterPort = Number(routes);
        // It may tell its port for other servers after it is ready.
        const isWhole = routes !== undefined || !/\bcluster\b/.test(config);
        if (isWhole && log.includes('Server is ready')) resolve();
      });
    });
    // Another network cannot be reached from here.
    if (through.length === 0) await answers(this.port, host);
  }

  /** Ends it, by kill -9 unless another signal is named, and waits for that. */
  async kill(signal = 'SIGKILL') {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    // Stopped, it would not see anything else.
    child.kill('SIGCONT');
    await exited;
  }

  /** Stands still, as on a machine that swaps, until `resume()`. */
  pause() {
    this.#child.kill('SIGSTOP');
    // Its threads go on until each has seen the signal.
    const threads = `/proc/${this.#child.pid}/task`;
    if (!existsSync(threads)) return;
    const isStopped = (id) => /\) [TZ] /.test(readFileSync(`${threads}/${id}/stat`, 'latin1'));
    while (!readdirSync(threads).every(isStopped));
  }

  resume() {
    this.#child.kill('SIGCONT');
  }
}

async function answers(port, host) {
  for (let tries = 0; tries < 200; tries++) {
    const socket = connect(port, host);
    const [what] = await Promise.race([
      once(socket, 'data').then(() => ['data']),
      once(socket, 'error').then(
        () => ['error'],
        () => ['error'],
      ),
    ]).catch(() => ['error']);
    socket.destroy();
    if (what === 'data') return;
    await sleep(20);
  }
  throw new Error(`nats-server does not answer on ${host}:${port}`);
}
