import { join } from 'node:path';

/** The folder that has the packages, and all that may be traced. */
const root = join(import.meta.dirname, '../..');

export default {
  output: 'standalone',
  distDir: 'build',
  outputFileTracingRoot: root,
  turbopack: { root },
};
