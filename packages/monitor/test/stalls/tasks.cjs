/** Tasks and a worker that block until the first number of shared memory is not 0. */
const { isMainThread, parentPort, workerData } = require('node:worker_threads');

function spin(cell) {
  while (Atomics.load(cell, 0) === 0);
}

exports.spinTask = (cell) => spin(cell);
exports.parkTask = (cell) => Atomics.wait(cell, 0, 0);
exports.waitTask = async (cell) => {
  while (Atomics.load(cell, 0) === 0) await new Promise((resolve) => setTimeout(resolve, 10));
};
exports.shortTask = () => {};

if (!isMainThread && workerData?.cell) {
  spin(workerData.cell);
  parentPort.postMessage('released');
}
