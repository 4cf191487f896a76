import Fastify from 'fastify';
import { ChatError, publicError } from './errors.js';
import { Buckets } from './flood.js';
import { createMetrics } from './metrics.js';
import { cleanFileName, parseName, parseRoom } from './names.js';
import { SECURITY_HEADERS, servePage } from './page.js';
import { parseMessageId, parseText } from './protocol.js';
import { isSameOrigin } from './socket.js';
import { toLink } from './wire.js';

/** The HTTP side: the page, the API beside the WebSocket, /health, /stats and /metrics. */
export async function createHttp({ chat, report, floodLimit, log }) {
  const { rooms, storage, delivery, files, counters, limits } = chat;
  const app = Fastify({
    bodyLimit: limits.frameBytes,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: answer,
  });
  const buckets = new Buckets(floodLimit);
  const metrics = createMetrics(delivery.policy);

  app.setErrorHandler(answer);
  // A form of another site can send text/plain, but not JSON.
  app.removeContentTypeParser('text/plain');

  function answer(error, request, reply) {
    const told = toChatError(error);
    if (told.code === 'internal') log(`internal error: ${error.stack}`);
    counters.count(told.code);
    // What is left of a refused upload is not worth reading.
    if (told.status === 413) reply.header('connection', 'close');
    reply.code(told.status).send({ error: { code: told.code, message: told.message } });
  }
  app.setNotFoundHandler(() => {
    throw new ChatError('not_found', 'There is nothing here; the API is described in README.md.');
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-content-type-options', 'nosniff');
    if (request.method !== 'POST') return;
    if (!isSameOrigin(request.raw)) {
      throw new ChatError('bad_origin', 'Pages of other sites may not post.');
    }
    const waitMs = buckets.take(request.ip);
    if (waitMs > 0) {
      reply.header('retry-after', Math.ceil(waitMs / 1000));
      throw new ChatError('flood', `More than ${floodLimit} a second is too fast; not accepted.`);
    }
  });

  await app.register(servePage);

  app.get('/health', (request, reply) => {
    const health = report.health();
    reply.code(health.status === 'ok' ? 200 : 503).send(health);
  });
  // Whether the loop turns, and nothing else: what answers this must not be killed for being busy.
  app.get('/livez', () => ({ status: 'alive' }));
  app.get('/readyz', (request, reply) => {
    const status = report.ready();
    reply.code(status === 'ready' ? 200 : 503).send({ status });
  });
  app.get('/stats', () => report.stats());
  app.get('/metrics', async (request, reply) => {
    const { type, text } = await metrics();
    return reply.type(type).send(text);
  });

  app.get('/api/rooms', () => {
    const open = Array.from(rooms.all(), (room) => ({
      room: room.name,
      members: room.people.size,
    }));
    return { rooms: open.sort((a, b) => b.members - a.members).slice(0, limits.listLength) };
  });

  app.get('/api/rooms/:room/messages', async (request, reply) => {
    const room = parseRoom(request.params.room);
    const { before, limit } = request.query;
    const page = {
      room,
      before: before === undefined ? null : parseMessageId(before),
      limit: parseLimit(limit),
    };
    counters.historyRequests += 1;
    const body = await delivery.history(page);
    reply.type('application/json');
    return body;
  });

  app.post('/api/rooms/:room/messages', async (request, reply) => {
    if (request.body === null || typeof request.body !== 'object') {
      throw new ChatError('bad_frame', 'The body is a JSON object: {"from": NAME, "text": TEXT}.');
    }
    const text = parseText(request.body.text);
    const { speaker, room, done } = await enter(request, request.body.from);
    try {
      const id = await chat.post(room, speaker, { text });
      reply.code(201);
      return { id };
    } finally {
      done();
    }
  });

  app.get('/api/rooms/:room/files', async (request) => {
    const room = parseRoom(request.params.room);
    const found = await storage.files(room, parseLimit(request.query.limit));
    if (found.length === 0) await rooms.refuseUnknown(room);
    return {
      room,
      files: found.map(({ id, from, at, file }) => ({
        message: id,
        from,
        at,
        ...toLink(room, file),
      })),
    };
  });

  app.get('/api/rooms/:room/files/:id', async (request, reply) => {
    const room = parseRoom(request.params.room);
    const message = await storage.findFile(room, request.params.id);
    if (message === undefined) throw new ChatError('unknown_file', 'There is no such file.');
    const bytes = await files.read(message.file.id);
    counters.downloadedBytes += bytes.length;
    reply.headers({
      ...SECURITY_HEADERS,
      // Whatever it is, it is saved or shown as a picture, and never runs as a page of this site.
      'content-security-policy': "default-src 'none'; sandbox",
      'content-type': message.file.type,
      'content-disposition': `attachment; filename*=UTF-8''${encodeRfc5987(message.file.name)}`,
      'cache-control': 'private, max-age=31536000, immutable',
    });
    return reply.send(bytes);
  });

  // Uploads are the raw body, whatever its type says; the stream goes to disk as it comes.
  await app.register(async (uploads) => {
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser('*', (request, payload, done) => done(null, payload));

    uploads.post('/api/rooms/:room/files', async (request, reply) => {
      if (Number(request.headers['content-length']) > limits.fileBytes) {
        throw new ChatError('file_too_large', `A file has at most ${limits.fileBytes} bytes.`);
      }
      const name = cleanFileName(request.query.name);
      const { speaker, room, done } = await enter(request, request.query.from);
      try {
        const stored = await files.store(request.raw);
        const file = { ...stored, name };
        let id;
        try {
          id = await chat.post(room, speaker, { text: name, file });
        } catch (error) {
          await files.remove(stored.id);
          throw error;
        }
        counters.uploadedBytes += stored.size;
        delivery.bus.emit('upload', { room: room.name, from: speaker.name, id, file });
        reply.code(201);
        return { id, file: { ...toLink(room.name, file), sha256: file.sha256 } };
      } finally {
        done();
      }
    });
  });

  /** Identifies the speaker and the room: a connected person by their session, anybody else by a name that is free. */
  async function enter(request, from) {
    const name = parseRoom(request.params.room);
    const speaker = identify(request.headers.authorization, from);
    let room = rooms.get(name);
    if (speaker.ws && !speaker.rooms.has(name)) {
      throw new ChatError('not_in_room', `You are not in ${name}; join it first.`);
    }
    if (room === undefined) {
      await rooms.refuseUnknown(name);
      room = rooms.open(name);
    }
    return { speaker, room, done: () => rooms.release(room) };
  }

  function identify(authorization, from) {
    if (authorization !== undefined) {
      const person = chat.people.bySession(authorization.replace(/^Bearer /, ''));
      if (person) return person;
      throw new ChatError('bad_session', 'This session is not connected.');
    }
    const name = parseName(from);
    if (chat.people.byName(name)) {
      throw new ChatError('name_taken', `The name ${name} belongs to somebody who is connected.`);
    }
    return { name };
  }

  function parseLimit(value) {
    if (value === undefined) return limits.historyLength;
    const limit = Number(value);
    if (!/^\d+$/.test(value) || limit < 1 || limit > limits.historyLength) {
      throw new ChatError(
        'bad_query',
        `limit is a whole number from 1 to ${limits.historyLength}.`,
      );
    }
    return limit;
  }

  return app;
}

function encodeRfc5987(name) {
  return encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
}

/** Fastify's own refusals in the chat's words. */
function toChatError(error) {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ChatError('body_too_large', 'The body is too large.');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ChatError('unsupported_media_type', 'The body is application/json.');
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return new ChatError('bad_json', 'The body is not valid JSON.');
  }
  if (error instanceof SyntaxError && error.statusCode === 400) {
    return new ChatError('bad_json', 'The body is not valid JSON.');
  }
  if (error.statusCode >= 400 && error.statusCode < 500) {
    return new ChatError('bad_frame', 'This request is malformed.');
  }
  return publicError(error);
}
