/** Reads the head of the first request on a connection that has not been read from, and stops right there. */
import { maxHeaderSize } from 'node:http';
import type { Socket } from 'node:net';
import type { RawHandle } from './protocol.js';

/** Who has sent no head by then (ms) is taken as a client without one, and the process's own timeouts are what counts. */
const timeoutMs = 5000;
const tlsHandshake = 0x16;
const end = '\r\n\r\n';

/**
 * Calls `done` once with all bytes that were read, and the head as text: '' if none came in time, it is too long, or it is encrypted.
 * Calls nothing if the connection ends before that. The socket must be paused; nothing reads from it afterwards.
 */
export function readHead(socket: Socket, done: (bytes: Buffer, head: string) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const stop = () => {
    clearTimeout(timer);
    socket.off('data', receive);
    // The stream still thinks that it reads, and so does not begin again. What comes from now on is the process's.
    (socket as Socket & { _handle: RawHandle | null })._handle?.readStop();
  };
  const finish = (bytes: Buffer, head: string) => {
    stop();
    done(bytes, head);
  };
  const receive = (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    const bytes = Buffer.concat(chunks, size);
    const at = bytes.indexOf(end);
    if (at >= 0) finish(bytes, bytes.toString('latin1', 0, at));
    else if (bytes[0] === tlsHandshake || size > maxHeaderSize) finish(bytes, '');
  };
  const timer = setTimeout(() => finish(Buffer.concat(chunks, size), ''), timeoutMs).unref();
  socket.on('data', receive);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
}
