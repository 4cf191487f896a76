/**
 * A closed loop that costs a fraction of what a server of node:http does: bytes are counted and not parsed. Whatever parses
 * answers, as autocannon does, is itself the limit if a server does nothing but answer.
 */
import { once } from 'node:events';
import { connect } from 'node:net';

const END = '\r\n\r\n';
/** Utilization of the sending loop from which on it is the limit itself. */
const BUSY = 0.9;

/**
 * A load of the kind `script`: each connection asks for these paths in turns, for the next one when it has the last answer.
 *
 * @param {string[]} paths whose answers have a content-length, which is always the same
 */
export function bareLoad(paths) {
  return async function load({ url, seconds, connections, signal }) {
    const { hostname, port, host } = new URL(url);
    const requests = paths.map((path) =>
      Buffer.from(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`),
    );
    const sockets = Array.from({ length: connections }, () => connect(Number(port), hostname));
    const faults = new Set();
    const closed = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    const destroy = () => {
      for (const socket of sockets) socket.destroy();
    };
    for (const socket of sockets) socket.on('error', ({ message }) => faults.add(message));
    signal.addEventListener('abort', destroy, { once: true });
    try {
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      const first = [];
      for (const request of requests) first.push(await answerOf(sockets[0], request));
      const begun = performance.eventLoopUtilization();
      let answers = 0;
      let isOver = false;
      // Of each path as many: which of them are asked for once more at the end is chance.
      const bytes = first.reduce((sum, { length }) => sum + length, 0) / first.length;
      sockets.forEach((socket, i) => {
        let turn = i % paths.length;
        let missing = first[turn].length;
        socket.on('data', ({ length }) => {
          missing -= length;
          if (missing > 0) return;
          if (missing < 0) faults.add(`an answer to ${paths[turn]} is longer than the first one`);
          answers += 1;
          turn = (turn + 1) % paths.length;
          missing = first[turn].length;
          if (isOver) socket.end();
          else socket.write(requests[turn]);
        });
        socket.write(requests[turn]);
      });
      setTimeout(() => {
        isOver = true;
      }, seconds * 1000);
      await Promise.all(closed);
      const { utilization } = performance.eventLoopUtilization(begun);
      if (utilization > BUSY) faults.add(`the load was the limit: it was busy for ${utilization}`);
      return {
        work: [{ name: paths.join(', '), answers, status: { 200: answers }, bytes }],
        values: { load_utilization: utilization },
        faults: [...faults],
      };
    } finally {
      signal.removeEventListener('abort', destroy);
      destroy();
    }
  };
}

/** Reads the first response. All others have its length: what differs is the time in its head. */
async function answerOf(socket, request) {
  socket.write(request);
  let text = '';
  while (!isWhole(text)) text += (await once(socket, 'data'))[0].toString('latin1');
  socket.removeAllListeners('data');
  if (!text.startsWith('HTTP/1.1 200 ')) throw new Error(`the answer is ${text.split('\r\n')[0]}`);
  return text;
}

function isWhole(text) {
  const end = text.indexOf(END);
  const length = /content-length: (\d+)/i.exec(text)?.[1];
  if (end > 0 && length === undefined) throw new Error('the answer has no content-length');
  return end > 0 && text.length >= end + END.length + Number(length);
}
