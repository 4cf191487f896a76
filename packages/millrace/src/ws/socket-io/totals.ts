/** Counters of what is gathered for the clients of socket.io, for all servers together. */
import { announce } from '@millrace/base/sources';

/**
 * A frame is a message for one client, with its attachments, and a write is a bundle of them. Superseded: messages whose place a newer
 * one of their key took before they were sent to a client.
 */
export const totals = { frames: 0, writes: 0, superseded: 0 };
let isAnnounced = false;

/** Announces what is counted here, once somebody uses it. */
export function announceTotals(): void {
  if (isAnnounced) return;
  isAnnounced = true;
  announce('socket-io', totals, (each) => ({ ...each }));
}
