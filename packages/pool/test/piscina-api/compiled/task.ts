import { isWorkerThread, move, workerData } from '@millrace/pool';

let bytes: Uint8Array;

export function moved(): Uint8Array {
  bytes = new Uint8Array(7);
  return move(bytes);
}

enum Left {
  None = 0,
}

export const told = () => [bytes.byteLength === Left.None, isWorkerThread, workerData];
