import { fileURLToPath } from 'node:url';

/**
 * The options of node that load `millrace/auto` before the application. As CommonJS: on Node.js 20 any `--import` sends
 * the application's main file through the loader of ES modules, where `module.parent` and `module.id` differ and files
 * with unknown extensions are refused; a start also takes about 10 ms longer. Worker threads and forked processes get these
 * options from it.
 */
export const PRELOAD: readonly string[] = [
  '--require',
  fileURLToPath(new URL('../auto/start.cjs', import.meta.url)),
];
