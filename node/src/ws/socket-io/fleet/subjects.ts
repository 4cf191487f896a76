/** Where a message goes. A key is a subject of one namespace, shortly: the kind and the name. */
import type { Link } from '../../../broker/link.js';
import type { Recipients } from './socket-io.js';

/** All nodes hear it. */
export const common = '';

/**
 * How socket.io names its sockets, each of which is in a room of that name. A subscription for each would cost more than it
 * brings: messages to such rooms go to all nodes.
 */
const socketId = /^[\w-]{20}$/;

/** Null: it has no subject of its own. */
export const roomKey = (room: string): string | null => (socketId.test(room) ? null : `r${room}`);
export const nodeKey = (node: string): string => `n${node}`;

/** A room's subject for what is for that room alone. */
export function keyFor({ rooms }: Recipients): string {
  if (rooms.size !== 1) return common;
  const [room] = rooms as Set<string>;
  return roomKey(room!) ?? common;
}

export function subjectOf(link: Link, namespace: string, key: string): string {
  if (key === common) return link.subject('socket-io', namespace, 'all');
  const kind = key[0] === 'r' ? 'room' : 'node';
  return link.subject('socket-io', namespace, kind, key.slice(1));
}

/** Names of namespaces begin with `/`, so this and the next are none of theirs. */
export const nodesSubject = (link: Link): string => link.subject('socket-io', 'nodes');

export const durableSubject = (link: Link, namespace: string): string =>
  link.subject('socket-io', 'durable', namespace);

/** A short name for a key: FNV-1a. If two have the same, somebody only waits in vain. */
export function shortName(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) {
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}
