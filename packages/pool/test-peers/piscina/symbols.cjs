/** What piscina's tests use of its dist/symbols. */
exports.kQueueOptions = require('@millrace/pool').queueOptionsSymbol;
