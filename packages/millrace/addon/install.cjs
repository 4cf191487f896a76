/**
 * Runs when the package is installed: builds the addon, unless there is one that works. An installation never fails for
 * want of it, as everything works in JavaScript as well.
 */
const { spawnSync } = require('node:child_process');
const { rmSync } = require('node:fs');
const { join } = require('node:path');
const { build } = require('./gyp.cjs');
const { inRepository, root } = require('./sources.cjs');

/** For the environment: how long the build may take, in seconds; 300 unless it is set. */
const wanted = Math.ceil(Number(process.env.MILLRACE_INSTALL_TIMEOUT));
const seconds = wanted > 0 && wanted <= 86_400 ? wanted : 300;
const marker = 'addon of millrace:';

/** Why this package has no addon that works, or null: as told by another process, which a bad one may end. */
function fault() {
  const ask =
    "import('./dist/index.js').then((m) => console.log('\\n' + process.argv[1], m.nativeError ?? 'works'))";
  const { stdout } = spawnSync(process.execPath, ['-e', ask, marker], {
    cwd: root,
    env: { ...process.env, MILLRACE_NATIVE: '' },
    encoding: 'utf8',
    timeout: 30_000,
  });
  // Not all that it prints need be ours.
  const line = (stdout ?? '').split('\n').find((each) => each.startsWith(marker));
  const answer = line?.slice(marker.length).trim();
  return answer === 'works' ? null : answer || 'it cannot be loaded';
}

const clean = () => rmSync(join(root, 'build'), { recursive: true, force: true, maxRetries: 5 });

function install() {
  // In the repository make builds it. Nothing but Node.js has the libuv that it needs.
  const unwanted = inRepository || process.env.MILLRACE_NATIVE === '0' || process.versions.bun;
  if (unwanted || fault() === null) return;
  clean();
  const why = build(seconds) ?? fault();
  if (why === null) return;
  clean();
  console.log(
    `millrace does everything in JavaScript here, for its addon could not be built (${why}); to try again: npm rebuild millrace`,
  );
}

try {
  install();
} catch (error) {
  console.log(`millrace does everything in JavaScript here: ${error.message}`);
}
