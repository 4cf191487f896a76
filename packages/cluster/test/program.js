/** Programs that are clusters, started for a test and ended with it. */
import { fork } from 'node:child_process';
import { EventEmitter, on } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The path of a fixture; one that is a path stays as it is. */
export const fixture = (name) =>
  fileURLToPath(new URL(name, new URL('./fixtures/', import.meta.url)));

/** Times (ms) that end nothing, however busy the machine is. A test of one of them sets it. */
const patient = { startTimeout: 600_000, drainTimeout: 600_000, crashWindow: 3_600_000 };

/** Options of programs, or of their processes, whose timers a test lets go on: see {@link Program.step}. */
export const still = ['--import', new URL('fixtures/still.js', import.meta.url).href];

/** Starts `primary.js` with a file of the fixtures, and resolves when it serves. */
export async function start(t, file, options = {}, how = {}) {
  const program = launch(t, fixture('primary.js'), [fixture(file), options], how);
  const { address, probes } = await program.next('served');
  program.port = address.port;
  program.probes = probes;
  return program;
}

/** Starts a program that may be a cluster, in a process group of its own, so that nothing of it outlives the test. */
export function launch(
  t,
  entry,
  [file = '', options = {}] = [],
  { env = {}, execArgv = [], execPath = process.execPath } = {},
) {
  const all = JSON.stringify({ port: 0, workers: 1, host: '127.0.0.1', ...patient, ...options });
  const child = fork(entry, [file, all], {
    detached: true,
    execArgv,
    execPath,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  t.after(() => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Nobody is left.
    }
  });
  return new Program(child);
}

class Program {
  stdout = '';
  stderr = '';
  #calls = 0;
  #steps = new Map();
  #events = [];
  #arrived = new EventEmitter().setMaxListeners(0);
  #answers = new Map();

  constructor(child) {
    this.child = child;
    child.stdout.on('data', (chunk) => {
      this.stdout += chunk;
      this.#arrived.emit('event');
    });
    child.stderr.on('data', (chunk) => {
      this.stderr += chunk;
      this.#arrived.emit('event');
    });
    this.exited = new Promise((resolve) => {
      // When its processes have ended, too: they have the same stdout.
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
    child.on('message', (message) => {
      if (message.id !== undefined) return this.#answers.get(message.id)(message);
      this.#events.push(message);
      this.#arrived.emit('event');
    });
  }

  /** The next event of that name that has not been asked for. */
  async next(name) {
    for (;;) {
      const at = this.#events.findIndex(({ event }) => event === name);
      if (at >= 0) return this.#events.splice(at, 1)[0].with;
      await Promise.race([
        new Promise((resolve) => this.#arrived.once('event', resolve)),
        this.exited.then(({ code, signal }) => {
          // What came with its end counts.
          if (this.#events.some(({ event }) => event === name)) return;
          throw new Error(`ended with ${code ?? signal} before '${name}': ${this.stderr}`);
        }),
      ]);
    }
  }

  /** Resolves when one of its processes has written that to stdout. */
  async wrote(text) {
    while (!this.stdout.includes(text)) {
      await new Promise((resolve) => this.#arrived.once('event', resolve));
    }
  }

  /** Resolves when the primary, or one of its processes, has written that to stderr. */
  async logged(text) {
    while (!this.stderr.includes(text)) {
      await new Promise((resolve) => this.#arrived.once('event', resolve));
    }
  }

  /** Calls a method of the cluster. */
  call(method) {
    const id = ++this.#calls;
    this.child.send({ id, call: method });
    return new Promise((resolve, reject) => {
      this.#answers.set(id, ({ result, error }) => {
        if (error === undefined) resolve(result);
        else reject(Object.assign(new Error(error.message), error));
      });
    });
  }

  /** Calls methods of the cluster that it hears of at the same time: it is stopped until all are sent. */
  together(methods) {
    this.child.kill('SIGSTOP');
    const calls = methods.map((method) => this.call(method));
    this.child.kill('SIGCONT');
    return Promise.all(calls);
  }

  /** Lets the timers of one of its processes, which are {@link still}, go on by a step. */
  async step(pid) {
    const steps = (this.#steps.get(pid) ?? 0) + 1;
    this.#steps.set(pid, steps);
    process.kill(pid, 'SIGUSR2');
    await this.wrote(`step ${steps} of ${pid}.`);
  }

  async pids() {
    const { processes } = await this.call('stats');
    return processes.map(({ pid }) => pid);
  }

  get(path = '/', options = {}) {
    return get(this.port, path, options);
  }
}

/** One request; on a connection of its own unless an agent is given. */
export function get(port, path, { body, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const req = http.request({ host: '127.0.0.1', port, path, agent: false, ...options });
    req.once('error', reject);
    req.once('response', async (res) => {
      res.setEncoding('utf8');
      let text = '';
      try {
        for await (const chunk of res) text += chunk;
        resolve({ status: res.statusCode, headers: res.headers, text });
      } catch (error) {
        reject(error);
      }
    });
    req.end(body);
  });
}

/** Clients that ask again as soon as they have an answer, each on a connection that it keeps. Counts answers and failures. */
export function load(t, port, { clients = 8, path = '/' } = {}) {
  const counts = { answers: 0, failures: [], pids: new Set() };
  const answered = new EventEmitter().setMaxListeners(0);
  let isOn = true;
  const client = async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    while (isOn) {
      try {
        const { status, text } = await get(port, path, { agent });
        if (status !== 200) throw new Error(`status ${status}`);
        counts.answers++;
        counts.pids.add(Number(text));
      } catch (error) {
        counts.failures.push(error.code ?? error.message);
      }
      answered.emit('answer');
    }
    agent.destroy();
  };
  t.after(() => {
    isOn = false;
  });
  const ended = Promise.all(Array.from({ length: clients }, client));
  return {
    counts,
    /** Resolves when so many more have been answered. */
    async more(answers) {
      const enough = counts.answers + answers;
      for await (const _ of on(answered, 'answer')) if (counts.answers >= enough) return;
    },
    async stop() {
      isOn = false;
      await ended;
      return counts;
    },
  };
}

/** A file with such code, which can be changed. */
export async function application(t, text) {
  const file = join(await folderOf(t), 'app.mjs');
  await writeFile(file, text);
  return file;
}

/** Gate that waits for a file: its part of a URL, and a function that makes the file. */
export async function gate(t) {
  const file = join(await folderOf(t), 'open');
  return { query: `file=${encodeURIComponent(file)}`, open: () => writeFile(file, '') };
}

async function folderOf(t) {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-cluster-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}
