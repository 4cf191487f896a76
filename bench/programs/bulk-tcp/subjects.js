/**
 * Subjects: ways to read a socket. Each has the options of a client's socket, and a function that attaches a consumer, which
 * gets each chunk, to a connected socket.
 */
import { enlarge } from 'millrace/net';

const largest = 256 * 1024;
const plain = {
  options: () => ({}),
  read(socket, consume) {
    socket.on('data', consume);
  },
};

export const subjects = {
  millrace: {
    ...plain,
    read(socket, consume) {
      socket.on('data', consume);
      return enlarge(socket);
    },
  },
  default: plain,
  /** A buffer of its own for each socket, used again and again; for clients alone. */
  onread: {
    options: (consume) => ({
      onread: {
        buffer: Buffer.allocUnsafeSlow(largest),
        callback(bytes, buffer) {
          consume(buffer.subarray(0, bytes));
          return true;
        },
      },
    }),
    read() {},
  },
};
