import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The environment without what npm or a user has set, and with settings that keep npm to a folder.
 *
 * @param {string} folder
 * @param {Record<string, string>} [added]
 */
export function npmEnvironment(folder, added = {}) {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_nodedir$)|MILLRACE_|NODE_)/i.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    npm_config_userconfig: join(folder, 'npmrc'),
    npm_config_cache: join(folder, 'cache'),
    npm_config_update_notifier: 'false',
    // Where the headers are beside Node.js, a download of them has to fail.
    ...(existsSync(join(dirname(realpathSync(process.execPath)), '../include/node/node_api.h')) && {
      npm_config_disturl: 'http://127.0.0.1:1',
    }),
    ...added,
  };
}
