/** In place of auto: loads the modules of Node.js that auto loads at the start. A test that replaces internals of theirs comes too late, with either. */
require('node:async_hooks');
require('node:diagnostics_channel');
require('node:dns/promises');
require('node:fs/promises');
require('node:net');
require('node:perf_hooks');
