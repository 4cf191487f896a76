/** Names of `stalls.cts` and `options.cts` for ES modules: `schema.cts` of the same folder of base says why. */
import options = require('../options.cjs');
import watch = require('../stalls.cjs');

export const { presentWatch, Stalls, stalls } = watch;
export const { stallSchema } = options;
