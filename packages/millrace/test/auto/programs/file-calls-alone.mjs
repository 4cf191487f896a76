/**
 * Reads a file while the threadpool is not to be had: its only thread waits for the writer of a FIFO. The argument is an empty folder.
 * Prints what it gets.
 */

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

process.chdir(process.argv[2]);
execFileSync('mkfifo', ['fifo']);
fs.writeFileSync('file', 'content');
const { fs: feature } = process[Symbol.for('millrace.auto')].features;
const stat = () => new Promise((resolve) => fs.stat('file', resolve));
while (feature.state === 'waiting') await stat();

const opened = new Promise((resolve) => fs.open('fifo', (_, fd) => fs.close(fd, resolve)));
const { size } = await fs.promises.stat('file');
await stat();
const chunks = await fs.createReadStream('file', { encoding: 'utf8' }).toArray();
const isClosed = !fs.readdirSync('/proc/self/fd').some(isOfFile);
// Lets the thread go.
fs.openSync('fifo', fs.constants.O_RDWR);
await opened;
console.log(JSON.stringify({ size, chunks, isClosed }));

function isOfFile(fd) {
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`).endsWith('/file');
  } catch {
    return false;
  }
}
