/**
 * Interface for addons whose threads have events for JavaScript: `millrace.h` is the batched alternative to
 * `napi_threadsafe_function`. This module has the two parts that such an addon needs: the functions at run time, and the
 * folder of the header when it is built. docs/reference/threads.md is the reference.
 *
 * @module threads
 */
import { join } from 'node:path';
import { MillraceError } from '@millrace/base/errors';
import { installed } from '@millrace/base/installed';
import { binding, nativeError } from '../native/load.js';
import { thisPackage } from '../package.cjs';

declare const opaque: unique symbol;

const { folder } = installed(thisPackage);

/** The functions of `millrace.h`, for `millrace_api()` in an addon. JavaScript can only pass it on. */
export interface Api {
  readonly [opaque]: never;
}

/**
 * The folder of `millrace.h`, for `include_dirs` in an addon's `binding.gyp`. It exists without millrace's addon, too. Empty
 * in a bundle that finds no installed package.
 */
export const include: string = folder === null ? '' : join(folder, 'addon/include');

/**
 * The object to pass to an addon that uses `millrace.h`. It is the same each time.
 *
 * @throws {MillraceError} `MILLRACE_E_NATIVE` when millrace runs without its addon: threads need the addon to post
 */
export function api(): Api {
  if (binding === null) {
    throw new MillraceError(
      'MILLRACE_E_NATIVE',
      `millrace/threads needs millrace's addon, and there is none: ${nativeError}; npx millrace doctor says what to do`,
    );
  }
  return binding.threads as Api;
}
