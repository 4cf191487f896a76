/** What piscina's tests use of its dist/common. */
const { join } = require('node:path');

const folder = join(require.resolve('millrace/pool'), '..');
const { isMoved, isTransferable, markMoved } = require(join(folder, '../core/movable.cjs'));
const { cpuShare } = require(join(folder, 'sizing.js'));

module.exports = {
  isMovable: isMoved,
  isTransferable,
  markMovable: markMoved,
  getAvailableParallelism: () => Math.floor(cpuShare()),
};
