/**
 * Arm of one round: `node arm.js SUBJECT PORT AT_ONCE` sends answered commands per second, the CPU of
 * the client for each, and what was wrong, if anything. Half of the commands are SET, half GET; every answer is checked.
 */
import { subjects } from './subjects.js';

const [subject, port, commands] = process.argv.slice(2);
const atOnce = Number(commands);
const warmupSeconds = 0.5;
const seconds = 1;

const { client, coalescer } = await subjects[subject](port);
let wrong = null;
let count = 0;

// Made before, so that what is measured is the client.
const pairs = Array.from({ length: 1000 }, (_, n) => [`key ${n}`, `value ${n} `.padEnd(100, '.')]);

/** Sends a command. Each value is read by the command after the one that wrote it. */
function one(n) {
  const [key, value] = pairs[(n >> 1) % pairs.length];
  return n % 2 === 0 ? client.set(key, value) : client.get(key);
}

function check(first, answers) {
  for (let i = 0; i < answers.length; i++) {
    const n = first + i;
    const expected = n % 2 === 0 ? 'OK' : pairs[(n >> 1) % pairs.length][1];
    if (answers[i] !== expected) wrong ??= `the answer to command ${n} was ${answers[i]}`;
  }
}

async function runFor(duration) {
  const end = performance.now() + duration * 1000;
  while (performance.now() < end) {
    const sent = [];
    const first = count;
    for (let i = 0; i < atOnce; i++) sent.push(one(count++));
    check(first, await Promise.all(sent));
  }
}

await runFor(warmupSeconds);
const before = count;
const [start, cpu] = [performance.now(), process.cpuUsage()];
await runFor(seconds);
const [ops, ms, { user, system }] = [
  count - before,
  performance.now() - start,
  process.cpuUsage(cpu),
];
const sample = { ops_per_s: (ops / ms) * 1000, cpu_us_per_op: (user + system) / ops, wrong };

if (coalescer !== null) {
  const { writes, coalesced } = coalescer.stats();
  if (writes < count) sample.wrong ??= `${count} commands were ${writes} writes of the socket`;
  const held = Math.floor(count / atOnce) * (atOnce - 1);
  if (coalesced < held) sample.wrong ??= `${coalesced} writes were held, not ${held}`;
}
await client.quit();
process.send(sample);
