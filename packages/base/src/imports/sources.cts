/** Names of `sources.cts` for ES modules: `schema.cts` of this folder says why. */
import registry = require('../sources.cjs');

export const { announce, sources, unannounced } = registry;
