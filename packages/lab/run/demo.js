#!/usr/bin/env node
/**
 * `make demo`: measures the chat in two ways, shows what each costs, and leaves it running with some
 * simulated people in it. `--help` lists the options.
 */
import { existsSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { wrapped } from '@millrace/base/text';
import { readDemoArgs, USAGE } from './args.js';
import { chat } from './arms.js';
import { Cleanup } from './cleanup.js';
import { colours, fail, tell } from './command.js';
import { partCores } from './cores.js';
import { experiment, runMs, runsOf } from './experiment.js';
import { notes } from './notes.js';
import { startPeople } from './people.js';
import { Progress } from './progress.js';
import { startServer } from './server.js';
import { table } from './table.js';

const SIGNAL_MS = 250;
const BUILT = new URL('../../millrace/dist/ws/index.js', import.meta.url);

const paint = colours(process.stdout);
const cleanup = new Cleanup();

let options;
try {
  options = readDemoArgs(process.argv.slice(2));
} catch (error) {
  fail('node packages/lab/run/demo.js', error);
  process.exit();
}
if (options.help) {
  console.log(USAGE);
  process.exit(0);
}
if (!existsSync(BUILT)) {
  console.error('Nothing is built yet; run make setup first, or make demo, which does it itself.');
  process.exit(1);
}

cleanup.watch(tell);
try {
  await cleanup.exit(await demo());
} catch (error) {
  // Ctrl-C goes to the whole group: a child may be seen to end before the signal is seen here.
  await sleep(SIGNAL_MS);
  // What is stopped fails in all kinds of ways, and none of them matters.
  if (!cleanup.signal.aborted) {
    tell(error);
    await cleanup.exit(1);
  }
}

/** @returns {Promise<number>} the exit code */
async function demo() {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-demo-'));
  cleanup.add(() => rm(dir, { recursive: true, force: true }));

  if (options.rounds > 0 && !(await compareArms(dir))) return 1;
  if (!options.keep && !(process.stdin.isTTY && process.stdout.isTTY)) {
    console.log('\nNo terminal, so the chat is not left running; --keep does that.');
    return 0;
  }
  return live(dir);
}

/** Measures and shows. @returns {Promise<boolean>} whether the figures count */
async function compareArms(dir) {
  console.log(introduction());
  const cores = partCores();
  const progress = new Progress({ steps: runsOf(options), estimateMs: runMs(options) });
  cleanup.add(() => progress.end());
  const results = await experiment(options, { dir, cores, progress, cleanup });
  cores?.release();

  console.log(`\n${table(results)}\n`);
  for (const note of notes(results, cores)) console.log(wrap(note));
  if (results.faults.length === 0) return true;
  console.log(paint.red('\nFAILED: this was no equal work, the figures above do not count.'));
  for (const fault of results.faults) console.log(wrap(fault));
  return false;
}

/** Leaves the chat running; ends only when the chat does. */
async function live(dir) {
  const server = await startServer({
    ...chat({ policy: 'adaptive', port: options.port, dataDir: join(dir, 'chat') }),
    cleanup,
  });
  const people = startPeople(server.url);
  cleanup.add(() => people.stop());
  if (options.port !== 0 && server.port !== options.port) {
    console.log(`\nPort ${options.port} is taken; the chat has the next free one.`);
  }
  console.log(
    `\nOpen ${paint.bold(server.url)}   with ${people.count} simulated people   Ctrl-C stops it`,
  );
  return server.failed;
}

function introduction() {
  const { connections, rooms, payload, rounds, seconds } = options;
  const members = Math.round(connections / rooms);
  const aboutSeconds = Math.round((runsOf(options) * runMs(options)) / 1000);
  return `The same chat, measured in two ways: ${paint.bold('direct')} writes each message to each member
by itself, ${paint.bold('adaptive')} writes what a turn of the event loop has gathered at once:
the busier it is, the more that is, so that it saves most when it is busy.

Load: ${connections} clients in ${rooms} rooms, messages of ${payload} bytes, all saved in SQLite.
A message in a room of ${members} counts as ${members} delivered messages.
${rounds} rounds of ${seconds} s for each way and each of two loads; about ${aboutSeconds} s.
`;
}

/** Breaks a sentence at 79 letters; lines after the first are indented. */
function wrap(text) {
  return wrapped(text, 77).join('\n  ');
}
