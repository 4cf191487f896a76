import { window } from './window.js';

/**
 * The load of a server that sends what one of 100 clients says to all: open if the case has a rate, otherwise closed.
 *
 * @param {string} protocol that clients speak
 */
export const deliveries = (protocol) => ({
  kind: 'ws',
  protocol,
  mode: ({ rate }) => (rate === undefined ? 'closed' : 'open'),
  deliveriesRate: ({ rate }) => rate,
  connections: 100,
  rooms: 1,
  payload: 100,
  ...window,
  drain: 60,
});
