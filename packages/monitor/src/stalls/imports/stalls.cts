/** Names of `stalls.cts` for ES modules: `schema.cts` of the same folder of base says why. */
import watch = require('../stalls.cjs');

export const { presentWatch, Stalls, stallSchema, stalls } = watch;
