/** Counts the calls of the C library's allocator by a server and its children, see allocations.c. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('./allocations.c', import.meta.url));

/** Two counters at the begin of each slot, as in allocations.c. */
const SLOTS = 64;
const SLOT_BYTES = 64;

export class Allocations {
  #folder;
  #library;
  #counters;
  #start = null;
  #count = null;
  #forget = () => {};

  /**
   * @param {import('../../run/cleanup.js').Cleanup} cleanup
   * @returns {Allocations | null} null where it cannot be compiled: without a C compiler, or without glibc
   */
  static open(cleanup) {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-lab-allocations-'));
    const counted = new Allocations(folder);
    counted.#forget = cleanup.add(() => counted.close());
    if (counted.#compile()) return counted;
    counted.close();
    return null;
  }

  constructor(folder) {
    this.#folder = folder;
    this.#library = join(folder, 'allocations.so');
    this.#counters = join(folder, 'counters');
    writeFileSync(this.#counters, Buffer.alloc(SLOTS * SLOT_BYTES));
  }

  #compile() {
    const args = ['-shared', '-fPIC', '-O2', '-Wall', '-Wextra', '-o', this.#library, SOURCE];
    return spawnSync('cc', args, { stdio: 'ignore' }).status === 0;
  }

  /** The environment that the server needs. @param {Record<string, string>} [own] */
  env({ LD_PRELOAD } = {}) {
    return {
      LD_PRELOAD: [this.#library, LD_PRELOAD].filter(Boolean).join(':'),
      MILLRACE_LAB_ALLOCATIONS: this.#counters,
    };
  }

  /** The window begins now. */
  begin() {
    this.#start = this.#read();
  }

  end() {
    const end = this.#read();
    this.#count = {
      allocations: end.allocations - this.#start.allocations,
      frees: end.frees - this.#start.frees,
    };
  }

  /** @returns {{ allocations: number, frees: number } | null} in the window; null when none has ended */
  get count() {
    return this.#count;
  }

  close() {
    rmSync(this.#folder, { recursive: true, force: true });
    this.#forget();
  }

  #read() {
    const bytes = readFileSync(this.#counters);
    const sum = { allocations: 0, frees: 0 };
    for (let slot = 0; slot < bytes.length; slot += SLOT_BYTES) {
      sum.allocations += Number(bytes.readBigUInt64LE(slot));
      sum.frees += Number(bytes.readBigUInt64LE(slot + 8));
    }
    return sum;
  }
}
