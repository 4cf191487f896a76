/** Reads the head of the first request on a connection that has not been read from, and stops right there. */
import { maxHeaderSize } from 'node:http';
import type { Socket } from 'node:net';
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import type { RawHandle } from './protocol.js';

/** A client that has not sent all of it by then (ms) counts as one without a head; from then on the process's own timeouts apply. */
const timeoutMs = 5000;
/** Ms for the first byte: browsers connect before they have something to ask. It is the time that Node.js gives a head. */
const silenceMs = 60_000;
const tlsHandshake = 0x16;
const end = '\r\n\r\n';

/**
 * Calls `done` once with all bytes that were read, and the head as text: '' if none came in time, it is too long, or it is encrypted;
 * with null if the connection ends before that. The socket must be paused; nothing reads from it afterwards. Returns a function
 * that ends it at once, with what there is.
 */
export function readHead(
  socket: Socket,
  done: (bytes: Buffer | null, head: string) => void,
): () => void {
  const chunks: Buffer[] = [];
  let size = 0;
  /** The last bytes, which may be the beginning of the end. */
  let tail = '';
  const finish = (bytes: Buffer | null, head: string) => {
    clearTimeout(timer);
    socket.off('data', receive);
    socket.off('close', closed);
    // The stream still believes that it is reading, and so does not begin again. What comes from now on is for the process.
    (socket as Socket & { _handle: RawHandle | null })._handle?.readStop();
    done(bytes, head);
  };
  const giveUp = () => finish(Buffer.concat(chunks, size), '');
  const closed = () => finish(null, '');
  const receive = (chunk: Buffer) => {
    if (size === 0) {
      clearTimeout(timer);
      timer = setTimeout(giveUp, timeoutMs).unref();
    }
    chunks.push(chunk);
    const text = tail + chunk.toString('latin1');
    const at = text.indexOf(end);
    const before = size - tail.length;
    size += chunk.length;
    tail = text.slice(1 - end.length);
    if (at >= 0) {
      const bytes = Buffer.concat(chunks, size);
      finish(bytes, bytes.toString('latin1', 0, before + at));
    } else if (chunks[0]![0] === tlsHandshake || size > maxHeaderSize) giveUp();
  };
  let timer = setTimeout(giveUp, silenceMs).unref();
  socket.on('data', receive);
  socket.once('close', closed);
  socket.resume();
  return giveUp;
}
