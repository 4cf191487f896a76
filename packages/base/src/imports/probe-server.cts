/** Names of `probe-server.cts` for ES modules: `schema.cts` of this folder says why. */
import probes = require('../probe-server.cjs');

export const { pidHeader, ProbeServer } = probes;
