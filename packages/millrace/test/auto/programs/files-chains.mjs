/**
 * Two chains of reads with callbacks: prints by how many files the memory outside the heap has grown after 6,000 of them, or as soon as
 * that is less than half of them.
 */
import { readFile, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { features } from 'millrace/auto';

const bytes = 16 * 1024;
const file = `${process.cwd()}/16k`;
writeFileSync(file, Buffer.alloc(bytes, 1));
while (features.fs.state !== 'active') {
  readFile(file, () => {});
  await sleep(10);
}
global.gc();
const before = process.memoryUsage().arrayBuffers;
let reads = 0;
let isTold = false;
const read = () => {
  reads++;
  // Memory outside the heap is freed some time after a collection.
  if (reads % 400 === 0) global.gc();
  const kept = Math.round((process.memoryUsage().arrayBuffers - before) / bytes);
  if (reads < 6000 || (kept >= 3000 && reads < 20_000)) readFile(file, read);
  else if (!isTold) {
    isTold = true;
    console.log(JSON.stringify(kept));
  }
};
read();
read();
