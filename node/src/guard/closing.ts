/** When the exchange of a ticket is over, for pipelined ones too. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Ticket } from './ticket.js';

/** The ticket of a response. A property and one listener for all: a closure for each would be a third of what a ticket costs. */
const ticketOf = Symbol('millrace.ticket');

type Watched = ServerResponse & { [ticketOf]?: Ticket };

/** What waits for a connection to close: with one listener on it, however many requests are pipelined. */
const pipelined = new WeakMap<Socket, Set<Ticket>>();

function responseClosed(this: Watched): void {
  this[ticketOf]!.closed();
}

/** Has `closed` of a ticket called, once its answer has been sent or its connection is closed. */
export function watchClose(ticket: Ticket): void {
  const res = ticket.res as Watched;
  if (res[ticketOf] === undefined) {
    res[ticketOf] = ticket;
    res.on('close', responseClosed);
  } else {
    // Another guard has a ticket for it.
    res.on('close', () => ticket.closed());
  }
  const { socket } = ticket.req;
  // An answer that waits behind another one of its connection has no socket yet. Node.js 20 and 22 do not close it if the
  // connection closes meanwhile.
  if (res.socket === null && socket && !socket.destroyed) watchSocket(socket, ticket);
}

function watchSocket(socket: Socket, ticket: Ticket): void {
  let tickets = pipelined.get(socket);
  if (tickets === undefined) {
    const all = new Set<Ticket>();
    pipelined.set(socket, all);
    socket.once('close', () => {
      for (const each of all) each.closed();
    });
    tickets = all;
  }
  tickets.add(ticket);
  ticket.res.once('close', () => tickets.delete(ticket));
}
