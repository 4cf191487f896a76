/** A list of tickets, linked through them: no allocation, and any can be taken out. */
import type { Ticket } from './ticket.js';

export class TicketList {
  first: Ticket | null = null;
  last: Ticket | null = null;
  size = 0;

  push(ticket: Ticket): void {
    ticket.previous = this.last;
    ticket.next = null;
    if (this.last === null) this.first = ticket;
    else this.last.next = ticket;
    this.last = ticket;
    this.size++;
  }

  remove(ticket: Ticket): void {
    const { previous, next } = ticket;
    if (previous === null) this.first = next;
    else previous.next = next;
    if (next === null) this.last = previous;
    else next.previous = previous;
    ticket.previous = null;
    ticket.next = null;
    this.size--;
  }
}
