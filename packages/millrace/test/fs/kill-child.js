/** Appends numbered records durably, without end, and prints the number of each that was acknowledged. */
import { writeSync } from 'node:fs';
import { appendFile } from 'millrace/fs';
import { record } from './record.js';

const [file] = process.argv.slice(2);
let next = 0;

async function caller() {
  for (;;) {
    const number = next++;
    await appendFile(file, record(number), { durable: true });
    writeSync(1, `${number}\n`);
  }
}

for (let callers = 0; callers < 20; callers++) caller();
