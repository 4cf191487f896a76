/**
 * Builds the addon and puts it where `src/native/load.ts` looks for the one of this platform:
 * `prebuilds/<platform>-<arch>/node.napi.uv1.<libc>.node`. Node-API makes it good for every release of Node.js.
 */
const { copyFileSync, mkdirSync } = require('node:fs');
const { join } = require('node:path');
const { build } = require('./gyp.cjs');
const { root } = require('./sources.cjs');

const why = build(600);
if (why !== null) {
  console.error(`millrace: the addon could not be built (${why})`);
  process.exit(1);
}

const libc = process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl';
const uv = `uv${process.versions.uv.split('.')[0]}`;
const tags = ['node', 'napi', uv, ...(process.platform === 'linux' ? [libc] : [])];
const path = `prebuilds/${process.platform}-${process.arch}/${tags.join('.')}.node`;
mkdirSync(join(root, path, '..'), { recursive: true });
copyFileSync(join(root, 'build/Release/millrace.node'), join(root, path));
console.log(path);
