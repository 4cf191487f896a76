/** Appends 100 records of 1,000 bytes at once, and prints what became of each: `node full-child.js FILE DURABLE`. */
import { appendFile, stats } from 'millrace/fs';

const [file, durable] = process.argv.slice(2);
const options = { durable: durable === 'true' };
const all = Array.from({ length: 100 }, (_, index) =>
  appendFile(file, `${index},`.padEnd(1000, '.'), options),
);
const outcomes = await Promise.allSettled(all);
const { syscall, message } = outcomes.at(-1).reason ?? {};
console.log(
  JSON.stringify({
    outcomes: outcomes.map(({ reason }) => reason?.code ?? 'written'),
    commits: stats().commits,
    error: { syscall, message },
  }),
);
