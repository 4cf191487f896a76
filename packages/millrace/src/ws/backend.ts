/** How bytes reach many sockets: natively where the addon can, otherwise through the stream of each. */
import { refused } from '@millrace/base/options';
import type { FanOutBinding } from '../native/binding.js';
import { binding } from '../native/load.js';

/** `js`: one write of its stream for each socket. `send`, `io_uring`: one native call for all. */
export type BackendName = 'js' | 'send' | 'io_uring';

/** As the C library numbers them. */
const flags: Readonly<Record<string, number>> = { auto: 0, send: 1, io_uring: 2 };

const what = 'the environment';

let opened: BackendName | null = null;

/**
 * Throws MILLRACE_E_INVALID_OPTION when MILLRACE_FANOUT asks for something that is not there. Called where an
 * application begins to use fan-out, so that nothing is lost by it.
 */
export function checkBackend(): void {
  const { setting } = setUp();
  // A probe can wait until something is sent.
  if (setting !== 'auto') backend();
}

function setUp(): { setting: string; flag: number } {
  const setting = process.env?.MILLRACE_FANOUT || 'auto';
  const flag = flags[setting];
  if (flag !== undefined) return { setting, flag };
  throw refused(what, 'MILLRACE_FANOUT', setting, 'auto, send, io_uring, or not set');
}

/** The back-end in use; the first call chooses it, by MILLRACE_FANOUT or a probe of a few milliseconds. */
export function backend(): BackendName {
  opened ??= open();
  return opened;
}

function open(): BackendName {
  const { setting, flag } = setUp();
  if (binding === null) return 'js';
  try {
    const name = binding.fanoutOpen(flag);
    // Without sends that do not block, the streams do just as well.
    return name === 'try_write' ? 'js' : name;
  } catch (error) {
    if (setting === 'auto') return 'js';
    const why = `auto or send on this system, which refuses it: ${(error as Error).message}`;
    throw refused(what, 'MILLRACE_FANOUT', setting, why, { cause: error });
  }
}

/** What sends natively; null where the streams do. */
export function nativeBackend(): FanOutBinding | null {
  return backend() === 'js' ? null : binding;
}
