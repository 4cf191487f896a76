/** Names of `options.cts` for ES modules: `schema.cts` of this folder says why. */
import options = require('../options.cjs');

export const { check, fault, parse, parseGiven, parseValue, refused, unknown } = options;
