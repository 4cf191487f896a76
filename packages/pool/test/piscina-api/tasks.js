import { BroadcastChannel, parentPort, threadId, workerData } from 'node:worker_threads';
import * as pool from '@millrace/pool';
import { isWorkerThread, move, transferableSymbol, valueSymbol } from '@millrace/pool';

export default (task) => task;

export const about = () => [isWorkerThread, pool.workerData === workerData];

export const thread = () => threadId;

/** Says that it runs, and runs until the main thread opens the gate. */
export function hold(gate) {
  parentPort.postMessage('holds');
  Atomics.wait(gate, 0, 0);
}

export async function wait(ms) {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

export function fail(message) {
  throw new RangeError(message);
}

/** Fails when its result has left. */
export function failLater(message) {
  setTimeout(() => {
    throw new Error(message);
  }, 1);
}

class Tree {
  left = { bytes: new Uint8Array(5) };
  right = new Uint8Array(10);

  get [transferableSymbol]() {
    return [this.left.bytes.buffer, this.right.buffer];
  }

  get [valueSymbol]() {
    return { left: this.left, right: this.right };
  }
}

let tree;

export function grow() {
  tree = new Tree();
  return move(tree);
}

export const left = () => [tree.left.bytes.byteLength, tree.right.byteLength];

export const sizes = ({ left, right }) => [left.bytes.byteLength, right.byteLength];

export function answer(port) {
  port.postMessage('through the port');
  port.close();
}

/** Resolves to what is said on a channel, and says when it listens. */
export function hear(name) {
  const channel = new BroadcastChannel(name);
  return new Promise((resolve) => {
    channel.onmessage = ({ data }) => {
      channel.close();
      resolve(data);
    };
    parentPort.postMessage('hears');
  });
}
