/** Two chains of reads with callbacks: prints by how many files the memory outside the heap has grown after so many of them. */
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
const read = () => {
  reads++;
  // Memory outside the heap is freed some time after a collection.
  if (reads === 5000 || reads === 5400) global.gc();
  if (reads < 6000) readFile(file, read);
  else if (reads === 6000) {
    console.log(JSON.stringify(Math.round((process.memoryUsage().arrayBuffers - before) / bytes)));
  }
};
read();
read();
