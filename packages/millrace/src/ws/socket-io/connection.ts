/** A connection of engine.io, as far as it is used here. */
import type { EventEmitter } from 'node:events';
import type { WebSocket } from '../ws-class.js';

export interface Connection extends EventEmitter {
  readonly readyState: string;
  readonly protocol: number;
  readonly transport: Transport;
  /** Packets that have not been handed to the transport. */
  writeBuffer: unknown[];
  readonly server: EventEmitter;
  /** Hands them over, if the transport can take them. */
  flush(): void;
}

export interface Transport extends EventEmitter {
  readonly name: string;
  /** False while it sends. */
  writable: boolean;
  readonly supportsBinary: boolean;
  readonly socket?: WebSocket;
  /** From engine.io 6.4 on: whether it sends `wsPreEncodedFrame` as it is, which it does not with permessage-deflate. */
  _canSendPreEncodedFrame?(packet: unknown): boolean;
}

/** Whether somebody is told of packets, who must see each of them. */
export function isWatched(connection: Connection): boolean {
  return (
    connection.listenerCount('packetCreate') > 0 ||
    connection.listenerCount('flush') > 0 ||
    connection.server.listenerCount('flush') > 0
  );
}
