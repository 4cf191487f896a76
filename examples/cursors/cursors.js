/**
 * Cursors that move, and the message that says where one is:
 *
 *     cursor (2 bytes)   x (2)   y (2), as shares of 65,535   time (8), in ms since 1970
 */

export const messageBytes = 14;
/** A frame of WebSocket with such a message. */
export const frameBytes = 2 + messageBytes;

/** Moves `count` cursors, each on a curve of its own. */
export class Cursors {
  #next = 0;

  constructor(count) {
    this.count = count;
  }

  /** The message of the next cursor's move: each has its turn. */
  move(now) {
    const id = this.#next;
    this.#next = (id + 1) % this.count;
    return encode({ id, ...placeOf(id, now), time: now });
  }
}

/** Place of a cursor at a time: both numbers are within 0 and 1. */
export function placeOf(id, now) {
  const angle = (speed) => id * 2.399963 + (now / 1000) * speed;
  const x = 0.5 + 0.25 * Math.sin(angle(0.31 + (id % 7) / 30)) + 0.23 * Math.sin(angle(0.17));
  const y = 0.5 + 0.25 * Math.cos(angle(0.23 + (id % 5) / 20)) + 0.23 * Math.sin(angle(0.29));
  return { x, y };
}

export function encode({ id, x, y, time }) {
  const message = Buffer.allocUnsafe(messageBytes);
  message.writeUInt16BE(id, 0);
  message.writeUInt16BE(Math.round(x * 65_535), 2);
  message.writeUInt16BE(Math.round(y * 65_535), 4);
  message.writeDoubleBE(time, 6);
  return message;
}

export function decode(message) {
  return {
    id: message.readUInt16BE(0),
    x: message.readUInt16BE(2) / 65_535,
    y: message.readUInt16BE(4) / 65_535,
    time: message.readDoubleBE(6),
  };
}
