/** The process of the readers: many that keep up, and a slow one that notes how old each message is when it reads it. */
import { decode } from './cursors.js';
import { Reader } from './reader.js';

const { port, readers, rate, slow: times } = JSON.parse(process.env.READERS);
/** Interval in ms at which the slow reader reads. */
const stepMs = 50;

const latest = new Map();
let ages = [];
const slow = new Reader({
  slow: true,
  onMessage(message) {
    const { id, time } = decode(message);
    latest.set(id, time);
    ages.push(Date.now() - time);
  },
});
const fast = Array.from({ length: readers }, () => new Reader({}));

process.on('disconnect', () => process.exit(0));
await slow.connect(port, '/live');
// So many at a time that the listen queue is never full.
for (let at = 0; at < fast.length; at += 50) {
  await Promise.all(fast.slice(at, at + 50).map((reader) => reader.connect(port, '/live')));
}
let allowed = 0;
setInterval(() => {
  allowed += (rate / times / 1000) * stepMs;
  slow.allow(Math.floor(allowed));
  allowed -= Math.floor(allowed);
}, stepMs);
process.send('ready');

let began = 0;
let counts = [];
process.on('message', (what) => {
  if (what === 'begin') {
    began = performance.now();
    counts = fast.map(({ count }) => count);
    ages = [];
    return;
  }
  const seconds = (performance.now() - began) / 1000;
  const now = Date.now();
  ages.sort((a, b) => a - b);
  const quantile = (share) => ages[Math.min(ages.length - 1, Math.floor(ages.length * share))];
  const read = fast.map(({ count }, n) => count - counts[n]);
  process.send({
    slow: {
      perSecond: Math.round(ages.length / seconds),
      cursors: latest.size,
      p50: quantile(0.5),
      p99: quantile(0.99),
      most: ages.at(-1),
      oldest: now - Math.min(...latest.values()),
    },
    fast: { perSecond: Math.round(Math.min(...read) / seconds) },
  });
});
