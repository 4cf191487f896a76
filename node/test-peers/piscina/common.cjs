/** What piscina's tests use of its dist/common. */
const { isMoved, isTransferable, markMoved } = require('../../dist/core/movable.cjs');
const { cpuShare } = require('../../dist/pool/sizing.js');

module.exports = {
  isMovable: isMoved,
  isTransferable,
  markMovable: markMoved,
  getAvailableParallelism: () => Math.floor(cpuShare()),
};
