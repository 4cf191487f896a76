/** The adapter for socket.io over several servers: what an application asks for, and the way to its connection. */
import { MillraceError } from '../../../errors.js';
import { Fleet } from './fleet.js';
import { acrossNodes } from './node.js';
import { adapterSettings, type MillraceAdapter, type MillraceAdapterOptions } from './options.js';
import type { ClusterNamespace, LocalAdapterClass } from './socket-io.js';

/** `classFor`: the in-memory adapter for the server of a namespace; throws when it cannot be had. */
export function acrossServers(
  options: MillraceAdapterOptions,
  classFor: (namespace: never) => unknown,
): MillraceAdapter {
  const settings = adapterSettings(options);
  let server: object | null = null;
  let fleet: Fleet | null = null;
  let Class: LocalAdapterClass | null = null;

  // Called with `new`, so no arrow function.
  function millraceAdapter(namespace: ClusterNamespace): unknown {
    const Base = classFor(namespace as never) as LocalAdapterClass;
    if (fleet === null || fleet.isClosed) {
      ({ server } = namespace);
      fleet = new Fleet(settings);
      Class = acrossNodes(Base, fleet);
    } else if (namespace.server !== server) {
      throw new MillraceError(
        'MILLRACE_E_INVALID_ARGUMENT',
        'this adapter belongs to another server, and with a broker each needs its own: io.adapter(millraceAdapter({ broker }))',
      );
    }
    return new Class!(namespace as never);
  }

  const from = (method: 'ready' | 'acknowledged') => (): Promise<void> => {
    if (fleet !== null) return fleet[method]();
    const message = `there is no server yet; call io.adapter() before ${method}()`;
    return Promise.reject(new MillraceError('MILLRACE_E_INVALID_ARGUMENT', message));
  };

  return Object.assign(millraceAdapter, {
    ready: from('ready'),
    acknowledged: from('acknowledged'),
    stats: () => fleet?.stats() ?? null,
  });
}
