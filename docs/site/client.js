/** The script of the site: one file, as a page that is read from a disk can load no modules. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** @returns {Promise<string>} */
export async function clientScript() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('client/main.js', import.meta.url))],
    bundle: true,
    format: 'iife',
    minify: true,
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0].text;
}
