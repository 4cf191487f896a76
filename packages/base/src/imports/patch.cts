/** Names of `patch.cts` for ES modules: `schema.cts` of this folder says why. */
import patch = require('../patch.cjs');

export const { Patch, patchMethod, patchReads } = patch;
