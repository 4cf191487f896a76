import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openAudit } from './audit.js';
import { Chat } from './chat.js';
import { Counters } from './counters.js';
import { createDelivery } from './delivery/index.js';
import { Files } from './files.js';
import { pageReader } from './history.js';
import { createHttp } from './http.js';
import { limits as defaultLimits } from './limits.js';
import { People } from './people.js';
import { createReport } from './report.js';
import { Rooms } from './rooms.js';
import { serveSockets } from './socket.js';
import { openStorage } from './storage/index.js';

/**
 * Puts the chat together and starts it.
 * @param {object} options as the command line's, see args.js; `limits` overrides single limits
 * @returns {Promise<{url, port, dataDir, isTemporary, storage, stats, close}>}
 */
export async function startChat(options = {}) {
  const {
    policy = 'adaptive',
    maxDelay,
    host = '127.0.0.1',
    port = 0,
    database,
    broker,
    digests = false,
    floodLimit = defaultLimits.floodPerSecond,
    drainDelay = 0,
    log = () => {},
  } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const isTemporary = options.dataDir === undefined;
  const dataDir = isTemporary ? await mkdtemp(join(tmpdir(), 'millrace-chat-')) : options.dataDir;
  // What to undo, last first, when a later step fails and when the server stops.
  const undo = [];
  if (isTemporary) undo.push(() => rm(dataDir, { recursive: true, force: true }));

  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const counters = new Counters();
    const storage = await openStorage(database ?? join(dataDir, 'chat.db'), {
      limits,
      onChange: ({ ok, reason }) => onStorageChange(ok, reason),
    });
    undo.push(() => storage.close());

    const rooms = new Rooms(storage, limits, broker !== undefined);
    const delivery = await createDelivery({
      policy,
      maxDelay,
      broker,
      digests,
      storage,
      readPage: pageReader({ storage, rooms, counters }),
      limits,
      onSlow: () => counters.count('slow'),
      onDropped: () => counters.count('frame_dropped'),
      // Kept for a listener that did not come in time.
      onLost: () => counters.count('event_lost'),
      onError: (error) => {
        counters.count('handler');
        log(`a listener failed: ${error.stack}`);
      },
      onAlone: (error) => log(`rooms have members of this server alone for now: ${error.message}`),
    });
    undo.push(() => delivery.close());

    const files = new Files(join(dataDir, 'files'), limits.fileBytes, delivery);
    await files.open();

    const people = new People(floodLimit);
    const chat = new Chat({ people, rooms, storage, delivery, files, counters, limits });
    let sockets;
    const report = createReport({ chat, sockets: () => sockets, counters });
    const http = await createHttp({ chat, report, floodLimit, log });
    sockets = serveSockets({ server: http.server, chat, counters, limits, floodLimit, log });

    function onStorageChange(ok, reason) {
      log(ok ? 'database is back' : `database is unavailable: ${reason}`);
      if (!ok) counters.count('storage_down');
      const text = ok
        ? 'The database is back; messages are saved again.'
        : 'The database is unavailable; messages cannot be sent for the moment.';
      chat.announce('storage', text, { ok });
    }

    const url = await listen(http, host, port);
    undo.push(() => http.close());

    // The audit log opens while the server is up already; events do not wait for it.
    delivery.bus.emit('system', { kind: 'start', policy, url });
    const audit = openAudit(join(dataDir, 'audit.log'), delivery.bus, (error) => {
      counters.count('audit');
      log(`audit log: ${error.message}`);
    });
    audit.catch(() => counters.count('audit'));

    let closing;
    return {
      url,
      port: new URL(url).port,
      dataDir,
      isTemporary,
      storage,
      stats: () => report.stats(),
      ready: audit,
      close() {
        closing ??= close();
        return closing;
      },
    };

    /** Stops taking, commits and delivers what was taken, says goodbye, leaves nothing behind. */
    async function close() {
      // Load balancers need a moment to see that they are to send nobody here any more.
      report.drain();
      await sleep(drainDelay);
      const noNewConnections = new Promise((resolve) => http.server.close(resolve));
      await within(limits.stopMs, Promise.all([sockets.quiesce(), delivery.settled()]));
      chat.announce('stop', 'The server is stopping.', {});
      delivery.flush();
      await sockets.close(Math.min(1000, limits.stopMs));
      // Answers under way are finished; an upload that would take too long is not waited for.
      const finished = Promise.all([http.close(), noNewConnections]);
      await within(limits.stopMs, finished);
      http.server.closeAllConnections();
      await finished;
      delivery.flush();
      await delivery.close();
      await (await audit.catch(() => null))?.close();
      await storage.close();
      if (isTemporary) await rm(dataDir, { recursive: true, force: true });
    }
  } catch (error) {
    for (const step of undo.reverse()) await step();
    throw error;
  }
}

/** Listens on the port, or on the next free one if it is taken. @returns {Promise<string>} the url */
async function listen(http, host, port) {
  for (let candidate = port; ; candidate += 1) {
    try {
      return await http.listen({ host, port: candidate });
    } catch (error) {
      const isLast = port === 0 || candidate === 65_535 || candidate - port >= 100;
      if (error.code !== 'EADDRINUSE' || isLast) throw error;
    }
  }
}

async function within(ms, work) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
