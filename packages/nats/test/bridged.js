/** Bridges for tests: in this process and in others. */
import { bridge } from '@millrace/nats/events';
import { patient, patiently } from './patience.js';
import { node } from './process.js';

const program = new URL('./programs/bridge.js', import.meta.url);

/** A process with a bridge. `run` starts it, as `node` of a machine does. */
export async function start(t, options, { run = (...args) => node(t, ...args), env = {} } = {}) {
  const OPTIONS = JSON.stringify({ ...options, broker: patient(options.broker) });
  const peer = run(program, { OPTIONS, ...env });
  await peer.says((said) => said === 'ready');
  return peer;
}

/** A bridge of this process. */
export async function own(t, emitter, options) {
  const made = bridge(emitter, { ...options, broker: patient(options.broker) });
  t.after(() => made.close());
  return await patiently(() => made.ready());
}

// What a process is asked.
export const emit = (peer, events, turns = false) => peer.ask({ do: 'emit', events, turns });
export const heard = (peer) => peer.ask({ do: 'heard' });
export const stats = (peer) => peer.ask({ do: 'stats' });
/** When an event with the argument 'last' has come. */
export const last = (peer) => peer.ask({ do: 'last' });
