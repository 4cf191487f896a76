import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError } from '@millrace/base/command';
import type { Settings } from '../auto/feature.cjs';
import { readSettings } from '../auto/settings.cjs';

/**
 * What an application will do with this environment. Looked at here, so that a mistake is reported before it is started.
 *
 * @throws {UsageError} a switch or the configuration is mistaken
 */
export function settingsOf(env: NodeJS.ProcessEnv): Settings {
  try {
    return readSettings(env);
  } catch (error) {
    throw new UsageError(`${(error as Error).message}.`);
  }
}

/**
 * The absolute path of a file for `--config`.
 *
 * @throws {UsageError} it is not there
 */
export function configFile(path: string): string {
  const file = resolve(path);
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return file;
  throw new UsageError(`there is no file ${path} for --config.`);
}
