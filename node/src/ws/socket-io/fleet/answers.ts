/** What other nodes answer to requests of this one. All of it may be malformed: then nothing is done. */
import { areTexts } from './head.js';
import type { Head } from './record.js';
import type { Requests } from './requests.js';

/** False for what is not well-formed. */
export function takeAnswer(requests: Requests, sender: string, head: Head): boolean {
  const { kind, request, value, count, sockets, message } = head;
  if (!isId(request)) return false;
  switch (kind) {
    case 'counted':
      if (!isId(count) || count < 0) return false;
      requests.counted(request, sender, count);
      return true;
    case 'answer':
      requests.part(request, sender, value);
      return true;
    case 'sockets':
      if (!Array.isArray(sockets) || !sockets.every(isDetails)) return false;
      requests.part(request, sender, sockets);
      if (head.isLast === true) requests.answered(request, sender);
      return true;
    case 'reply':
      requests.part(request, sender, value);
      requests.answered(request, sender);
      return true;
    case 'failed':
      if (typeof message !== 'string') return false;
      requests.fail(request, sender, new Error(`another server: ${message}`));
      return true;
    default:
      return false;
  }
}

export const isId = (value: unknown): value is number => Number.isSafeInteger(value);

/** What socket.io makes a remote socket of. */
function isDetails(value: unknown): boolean {
  const { id, handshake, rooms } = (value ?? {}) as Record<string, unknown>;
  return typeof id === 'string' && typeof handshake === 'object' && areTexts(rooms);
}
