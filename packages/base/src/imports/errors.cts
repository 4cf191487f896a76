/** Names of `errors.cts` for ES modules: `schema.cts` of this folder says why. */
import table = require('../errors.cjs');

export const { codes, MillraceError, show } = table;
