import { spawn } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { guard } from './guard.js';
import { allPids, lookAt, newMark, strays } from './strays.js';

const OUTPUT_BYTES = 65_536;
const GAP = '\n…\n';
const WORDS_LENGTH = 2000;

/** Longest line in letters; the rest of it is lost. */
const LINE_LENGTH = 16e6;

/** Time in ms to wait for more output after the end, so many times at most: a grandchild may hold the pipe. */
const LAST_MS = 500;
const LAST_WAITS = 20;
const LOOK_MS = 10;

/** Most ms between two looks that count as grace: on a busy machine the others were not run either. */
const COUNTED_MS = 50;

/** Time in ms to wait for the end of processes that have got SIGKILL: what holds one longer holds it for ever. */
const KILLED_MS = 60_000;

/** A child process that leads a group of its own, and what it has written. */
export class Child {
  /** Resolves with how it ended: `ended unexpectedly with code 1`. @type {Promise<string>} */
  ended;

  #child;
  #exited;
  #hasExited = false;
  #stopping;
  #graceMs = Number.POSITIVE_INFINITY;
  #listeners = new Set();
  #rest = '';
  #first = [];
  #chunks = [];
  #length = 0;
  #total = 0;
  #errors = '';
  #mark = newMark();
  /** Strays that were seen, by number, with the time at which each began. @type {Map<number, string>} */
  #strays = new Map();
  #guard = guard(this.#mark);

  /** The first line that has what was looked for; null before there is one. @type {string | null} */
  proof = null;

  /**
   * @param {string[]} command
   * @param {object} options
   * @param {Record<string, string>} [options.env] added to the environment
   * @param {RegExp} [options.proof] looked for in each line that it writes, until it is found
   * @param {boolean} [options.isHeld] gives it a stdin, and a pipe 3 that is open until `stop`
   */
  constructor([program, ...args], { env, proof, isHeld = false }) {
    const child = spawn(program, args, {
      env: { ...process.env, ...env, ...this.#mark },
      stdio: isHeld ? ['pipe', 'pipe', 'pipe', 'pipe'] : ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.#child = child;
    if (child.pid === undefined) this.#guard.end();
    else this.#guard.group(child.pid);
    for (const stream of [child.stdin, child.stdio[3]]) stream?.on('error', () => {});
    if (proof) for (const stream of [child.stdout, child.stderr]) this.#lookFor(proof, stream);
    child.stdout.on('data', (data) => this.#keep(data));
    child.stdout.setEncoding('utf8').on('data', (text) => this.#split(text));
    child.stderr.on('data', (data) => {
      this.#keep(data);
      this.#errors = (this.#errors + data).slice(-WORDS_LENGTH);
    });
    this.#exited = new Promise((resolve) => {
      child.once('error', (error) => resolve(`could not be started: ${error.message}`));
      child.once('exit', (code, signal) => {
        this.#hasExited = true;
        resolve(`ended unexpectedly with ${signal ?? `code ${code}`}`);
      });
    });
    const closed = new Promise((resolve) => {
      child.once('close', resolve);
    });
    this.ended = this.#exited.then(async (how) => {
      if (child.pid !== undefined) await this.#lastOutput(closed);
      return how;
    });
  }

  /** Waits until its output is closed, or nothing has come for a while. */
  async #lastOutput(closed) {
    let isClosed = false;
    const over = closed.then(() => {
      isClosed = true;
    });
    let known = -1;
    for (let waits = 0; !isClosed && known !== this.#total && waits < LAST_WAITS; waits += 1) {
      known = this.#total;
      const waited = new AbortController();
      const enough = sleep(LAST_MS, undefined, { signal: waited.signal }).catch(() => {});
      await Promise.race([over, enough]);
      waited.abort();
      // Output that came while this process stood still is read in the rest of the turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  get pid() {
    return this.#child.pid;
  }

  /** The first and the last 64 KB, as text; a line of `…` stands for what was between them. */
  get output() {
    const last = Buffer.concat(this.#chunks).subarray(-OUTPUT_BYTES);
    const before = this.#total - last.length;
    const first = Buffer.concat(this.#first).subarray(0, Math.min(before, OUTPUT_BYTES));
    return Buffer.concat([first, Buffer.from(before > first.length ? GAP : ''), last]).toString();
  }

  /** Reports whether it has ended and the kernel has said so. */
  get hasExited() {
    return this.#hasExited;
  }

  /** Reports whether it has ended or is about to: its connections may be closed already. */
  get isEnding() {
    if (this.#hasExited || this.pid === undefined) return true;
    return lookAt(this.pid)?.isEnding ?? true;
  }

  /** Resolves as soon as it has exited; what it wrote may still come. */
  get exited() {
    return this.#exited;
  }

  /**
   * Calls back with each line of stdout from now on; in the turn that made it, from the first one on.
   *
   * @returns {() => void} takes it back: lines that nobody wants cost nothing
   */
  onLine(call) {
    this.#listeners.add(call);
    return () => this.#listeners.delete(call);
  }

  write(text) {
    this.#child.stdin.write(text);
  }

  /**
   * `: ` and the line of stderr that names an error, else the last one, else, where it `isWanted`, the last one of
   * stdout; or nothing.
   */
  lastWords(isWanted) {
    const lines = (text) => text.split('\n').filter((line) => line.trim() !== '');
    const said = lines(this.#errors);
    const error = said.find((each) => /error/i.test(each) && !each.startsWith(' '));
    const line = error ?? said.at(-1) ?? (isWanted ? lines(this.output).at(-1) : undefined);
    return line === undefined ? '' : `: ${line.trim()}`;
  }

  /**
   * Ends it, its group and what has left that: SIGTERM to the process, so that it can stop what it has started in its own way, then to
   * what it has left behind, and SIGKILL to all that is there after `graceMs`. All of them are gone then, and their ports free.
   *
   * @returns {Promise<boolean>} whether SIGKILL was needed
   */
  stop(graceMs) {
    this.#graceMs = Math.min(this.#graceMs, graceMs);
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop() {
    if (this.pid === undefined) return false;
    // Processes that end together with their parent are looked for while they have its mark.
    this.#livingStrays();
    this.#child.stdio[3]?.end();
    this.#child.kill('SIGTERM');
    await this.#waitFor(() => this.#hasExited);
    if (this.#hasExited) this.#toAll('SIGTERM');
    await this.#waitFor(() => !this.#isThere());
    const wasKilled = this.#isThere();
    if (wasKilled) await this.#kill();
    await this.#exited;
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
    await this.ended;
    this.#guard.end();
    return wasKilled;
  }

  /** Kills all, also what one of them has just started, and waits until the kernel has taken away what they had. */
  async #kill() {
    const end = performance.now() + KILLED_MS;
    do {
      // Of a group that is gone the number may be somebody else's by now.
      this.#toAll('SIGKILL');
      await sleep(LOOK_MS);
    } while (this.#isThere() && performance.now() < end);
  }

  async #waitFor(isDone) {
    while (!isDone() && this.#graceMs > 0) {
      const before = performance.now();
      await sleep(LOOK_MS);
      this.#graceMs -= Math.min(performance.now() - before, COUNTED_MS);
    }
  }

  /** Reports whether it, one of its group or a stray is alive; what has ended may wait for long to be asked how. */
  #isThere() {
    const hasGroup = this.#toGroup(0) && (!this.#hasExited || groupIsAlive(this.pid));
    return hasGroup || this.#livingStrays().length > 0;
  }

  /** Returns the processes that have the mark, and those that had it and have not ended. */
  #livingStrays() {
    for (const pid of strays(this.#mark)) {
      const seen = lookAt(pid);
      if (seen !== null) this.#strays.set(pid, seen.started);
    }
    for (const [pid, started] of this.#strays) {
      if (lookAt(pid)?.started !== started) this.#strays.delete(pid);
    }
    return [...this.#strays.keys()];
  }

  #toAll(signal) {
    this.#toGroup(signal);
    for (const pid of this.#livingStrays()) send(pid, signal);
  }

  /** @returns {boolean} whether there was anybody */
  #toGroup(signal) {
    return send(-this.pid, signal);
  }

  #split(text) {
    const last = text.lastIndexOf('\n');
    if (last < 0 || this.#listeners.size === 0) {
      // Joined when the line is whole: a look at each piece would read what is there again and again.
      if (this.#listeners.size === 0) this.#rest = text.slice(last + 1);
      else if (this.#rest.length < LINE_LENGTH) this.#rest += text;
      return;
    }
    const lines = (this.#rest + text.slice(0, last)).split('\n');
    this.#rest = text.slice(last + 1);
    for (const line of lines) for (const call of this.#listeners) call(line);
  }

  /** Looks at each line as it comes: what is written between the first and the last 64 KB is not kept. */
  #lookFor(pattern, stream) {
    // Without g and y, which go on from where they were.
    const proof = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''));
    const decoder = new StringDecoder();
    let rest = '';
    const look = (data) => {
      const lines = (rest + decoder.write(data)).split('\n');
      rest = lines.at(-1).slice(-OUTPUT_BYTES);
      this.proof ??= lines.slice(0, -1).find((line) => proof.test(line)) ?? null;
      if (this.proof !== null) stream.off('data', look);
    };
    stream.on('data', look);
  }

  #keep(data) {
    const bytes = Buffer.from(data);
    if (this.#total < OUTPUT_BYTES) this.#first.push(bytes);
    this.#total += bytes.length;
    this.#chunks.push(bytes);
    this.#length += bytes.length;
    while (this.#length - this.#chunks[0].length >= OUTPUT_BYTES) {
      this.#length -= this.#chunks.shift().length;
    }
  }
}

/** @returns {boolean} whether there was anybody */
function send(pid, signal) {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (error.code === 'ESRCH') return false;
    throw error;
  }
}

/** Reports whether a process of the group has not ended. */
const groupIsAlive = (group) => allPids().some((pid) => lookAt(pid)?.group === group);
