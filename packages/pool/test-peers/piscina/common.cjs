/** What piscina's tests use of its dist/common. */
const { isMoved, isTransferable, markMoved } = require('@millrace/base/movable');
const { cpuShare } = require('@millrace/base/limits/limits');

module.exports = {
  isMovable: isMoved,
  isTransferable,
  markMovable: markMoved,
  getAvailableParallelism: () => Math.floor(cpuShare()),
};
