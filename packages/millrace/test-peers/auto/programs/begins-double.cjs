/** Preloaded before auto: the double begins, or is loaded at least if auto could not be loaded from it. */
const { begin } = require('./doubles.cjs');

if (process.env.DOUBLE === 'mock-fs') require('mock-fs');
else globalThis.endDouble = begin();
