import { fileURLToPath } from 'node:url';

/** @type {import('next').NextConfig} */
export default {
  // This name keeps it out of Git and of the linter.
  distDir: 'build',
  turbopack: { root: fileURLToPath(new URL('..', import.meta.url)) },
};
