/**
 * Stands in for under-pressure's `test/forkRequest.js`: requests an address from another thread.
 *
 * The original starts a process, and its tests block the loop for about a second in the hope that the request arrives meanwhile. On
 * a busy machine the process takes longer to start. Here `Date.now()`, by which those tests measure how long they block, stands still
 * until the request has left. So the request always arrives while the loop is blocked, however slow the machine is. A request
 * waits until the one before it has been answered: one test expects that of two requests 250 ms apart.
 */
const http = require('node:http');
const { isMainThread, parentPort, Worker } = require('node:worker_threads');

if (isMainThread) module.exports = forkRequest;
else parentPort.on('message', send);

const { now } = Date;
const pending = [];
let worker;

function forkRequest(address, delay, callback) {
  const sent = new Int32Array(new SharedArrayBuffer(4));
  if (!worker) {
    worker = new Worker(__filename);
    worker.on('message', answered);
  }
  if (pending.push({ address, delay, sent, callback }) === 1) next();
}

function next() {
  const { address, delay, sent } = pending[0];
  const start = now();
  Date.now = () => (Atomics.load(sent, 0) === 0 ? start : now());
  worker.ref();
  worker.postMessage({ address, delay, sent });
}

function answered({ error, response, body }) {
  const { callback } = pending.shift();
  worker.unref();
  callback(error && new Error(error), response, body);
  if (pending.length > 0) next();
}

/** Runs in the worker. */
function send({ address, delay, sent }) {
  const leave = () => {
    const request = http.get(address, { agent: false });
    request.on('finish', () => Atomics.store(sent, 0, 1));
    request.on('error', ({ message }) => parentPort.postMessage({ error: message }));
    request.on('response', async (response) => {
      const { statusCode, headers } = response;
      const body = Buffer.concat(await response.toArray()).toString();
      parentPort.postMessage({ error: null, response: { statusCode, headers }, body });
    });
  };
  setTimeout(leave, delay);
}
