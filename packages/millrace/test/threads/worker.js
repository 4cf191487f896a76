/** A worker with a ring, of which it tells its parent the address. It gets what to do from `workerData`. */
import { createRequire } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { api } from 'millrace/threads';

const { path, each, joinsLate, busy } = workerData;
const addon = createRequire(import.meta.url)(path);

let total = 0;
const callback = (_, _first, count) => {
  total += count;
  if (busy && total > 1000) {
    parentPort.postMessage('busy');
    for (;;);
  }
};
const ring = addon.open(
  api(),
  callback,
  16,
  64,
  0,
  0,
  () => parentPort.postMessage(total),
  joinsLate,
);
parentPort.postMessage(addon.address(ring));
addon.produce(ring, 2, each, 1);
addon.release(ring);
