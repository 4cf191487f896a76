import { WebSocket, WebSocketServer } from 'ws';
import { publicError } from './errors.js';
import { parseFrame } from './protocol.js';

/** The WebSocket side: takes connections at /ws, turns frames into commands, answers what was refused. */
export function serveSockets({ server, chat, counters, limits, floodLimit, log }) {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: limits.frameBytes,
    perMessageDeflate: false,
    clientTracking: false,
  });
  const { people, delivery } = chat;
  const open = new Set();
  let stopping = false;
  let inFlight = 0;
  let idle = null;

  const hello = {
    t: 'hello',
    limits: {
      name: limits.nameLength,
      room: limits.roomLength,
      text: limits.textLength,
      file: limits.fileBytes,
      history: limits.historyLength,
      rooms: limits.roomsPerClient,
      flood: floodLimit,
    },
  };

  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    const refusal = refuse(request);
    if (refusal) return rejectUpgrade(socket, refusal);
    sockets.handleUpgrade(request, socket, head, (ws) => welcome(ws, request));
  });

  const heartbeat = setInterval(() => {
    for (const ws of open) {
      if (!ws.person.alive) ws.terminate();
      ws.person.alive = false;
      ws.ping();
    }
  }, limits.heartbeatMs);
  heartbeat.unref();

  function refuse(request) {
    if (new URL(request.url, 'http://chat').pathname !== '/ws') {
      return { status: '404 Not Found', code: 'not_found', message: 'The WebSocket is at /ws.' };
    }
    if (!isSameOrigin(request)) {
      return {
        status: '403 Forbidden',
        code: 'bad_origin',
        message: 'Pages of other sites may not connect.',
      };
    }
    if (stopping || open.size >= limits.clients) {
      return {
        status: '503 Service Unavailable',
        code: stopping ? 'stopping' : 'overloaded',
        message: stopping ? 'The server is stopping.' : 'The server is full.',
      };
    }
    return null;
  }

  function rejectUpgrade(socket, { status, code, message }) {
    counters.count(code);
    const body = JSON.stringify({ error: { code, message } });
    socket.end(
      `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  }

  function welcome(ws, request) {
    const query = new URL(request.url, 'http://chat').searchParams;
    const { person, replaced, problem } = people.arrive(
      ws,
      query.get('name'),
      query.get('session'),
    );
    ws.person = person;
    open.add(ws);
    if (replaced) {
      chat.departAll(replaced);
      chat.end(replaced, 4001, 'connected elsewhere');
    }
    delivery.send(
      ws,
      JSON.stringify({ ...hello, name: person.name, session: person.session }),
      'high',
    );
    if (problem) chat.refuse(person, problem);

    ws.on('message', (data, isBinary) => receive(person, data, isBinary));
    ws.on('pong', () => {
      person.alive = true;
    });
    // Broken frames and frames that are too long: ws has closed the connection with 1002, 1007 or 1009 already.
    ws.on('error', (error) => counters.count(error.code ?? 'socket_error'));
    ws.on('close', () => {
      open.delete(ws);
      people.depart(person);
      chat.departAll(person);
    });
  }

  function receive(person, data, isBinary) {
    counters.received += 1;
    if (stopping || person.isLeaving || person.ws.readyState !== WebSocket.OPEN) return;
    person.alive = true;
    const waitMs = person.bucket.take();
    if (waitMs > 0) return refuseFlood(person, data, isBinary, waitMs);
    let ref;
    try {
      const command = parseFrame(data, isBinary);
      ref = command.ref;
      const work = chat.run(person, command);
      if (work !== undefined) track(work, person, ref);
    } catch (error) {
      fail(person, error, error.ref ?? ref);
    }
  }

  // Commands under way, so that a stop can wait for them.
  async function track(work, person, ref) {
    inFlight += 1;
    try {
      await work;
    } catch (error) {
      fail(person, error, ref);
    } finally {
      inFlight -= 1;
      if (inFlight === 0) idle?.();
    }
  }

  function fail(person, error, ref) {
    const told = publicError(error);
    if (told.code === 'internal') log(`internal error: ${error.stack}`);
    chat.refuse(person, { code: told.code, message: told.message, ref });
  }

  // Every refused frame is answered, so that its sender knows what did not go through; how many is bounded.
  function refuseFlood(person, data, isBinary, waitMs) {
    if (person.bucket.strikes > limits.floodStrikes) {
      counters.count('flood');
      chat.end(person, 1008, 'flood');
      return;
    }
    let ref;
    try {
      ref = parseFrame(data, isBinary).ref;
    } catch (error) {
      ref = error.ref;
    }
    const message = `More than ${floodLimit} a second is too fast; not accepted. Go on in ${waitMs} ms.`;
    chat.refuse(person, { code: 'flood', message, ref });
  }

  return {
    get size() {
      return open.size;
    },

    get inFlight() {
      return inFlight;
    },

    /** Reads nothing more; resolves when every command received has been carried out. */
    async quiesce() {
      stopping = true;
      clearInterval(heartbeat);
      if (inFlight > 0) {
        await new Promise((resolve) => {
          idle = resolve;
        });
      }
    },

    /** Says goodbye to everybody with 1001; who does not answer within `graceMs` is cut off. */
    async close(graceMs) {
      if (open.size === 0) return;
      const gone = Array.from(open, (ws) => new Promise((resolve) => ws.once('close', resolve)));
      for (const ws of open) ws.close(1001, 'server is stopping');
      const timer = setTimeout(() => {
        for (const ws of open) ws.terminate();
      }, graceMs);
      await Promise.all(gone);
      clearTimeout(timer);
    },
  };
}

/** Browsers send Origin; other clients need not. A page of another site must not act for its visitor. */
export function isSameOrigin(request) {
  const { origin, host } = request.headers;
  if (origin === undefined) return true;
  try {
    return new URL(origin).host === host;
  } catch {
    return false;
  }
}
