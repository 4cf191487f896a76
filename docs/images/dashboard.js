/** Takes pictures of the dashboard of a busy chat. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runLoad } from '../../packages/lab/load/index.js';
import { startServer } from '../../packages/lab/run/server.js';
import { freePort } from '../../packages/lab/run/up.js';
import { save, size } from './save.js';

const path = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

/** Loads of the clients, one after the other, so that the charts show changes. */
const loads = [
  { pattern: 'steady', deliveriesRate: 2000, seconds: 15 },
  { pattern: 'mixed', deliveriesRate: 12_000, seconds: 20 },
  { pattern: 'spikes', deliveriesRate: 8000, seconds: 20 },
];
const crowd = { protocol: 'chat', mode: 'open', connections: 200, rooms: 10, warmup: 1, drain: 20 };
/** Time before the end of the last load at which the pictures are taken. */
const lastSeconds = 4;
/** Number of charts: the first two rows of three; more are too tall for a README. */
const chartCount = 6;
const margin = 14;
const width = 1290;
const uploadsPerSecond = 8;
const uploadBytes = 200_000;

export async function pictureDashboard({ browser, cleanup, say }) {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-picture-'));
  cleanup.add(() => rm(dataDir, { recursive: true, force: true }));
  const port = await freePort();
  const chat = await startServer({
    name: 'the chat',
    command: [
      ...[process.execPath, path('packages/millrace/bin/millrace.js'), 'run'],
      ...['--port', `${port}`, path('examples/chat/server.js'), '--port', '0', '--digests'],
      ...['--data-dir', dataDir, '--quiet', '--flood-limit', '0'],
    ],
    env: { DATABASE_URL: '' },
    cleanup,
  });

  let taken;
  const pages = {};
  for (const colorScheme of ['light', 'dark']) {
    const page = await browser.newPage({ viewport: { width, height: 1500 }, colorScheme });
    await page.goto(`http://127.0.0.1:${port}/`);
    await page.waitForSelector('#charts canvas');
    await page.getByLabel('1 min', { exact: true }).check({ force: true });
    pages[colorScheme] = page;
  }

  for (const [i, load] of loads.entries()) {
    say(`${load.pattern}, ${load.deliveriesRate} messages/s for ${load.seconds} s`);
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, cleanup.signal]);
    const uploading = upload(chat.url, i * crowd.connections + 1, signal);
    const onProgress = ({ phase, second }) => {
      const isTime = phase === 'measure' && second >= load.seconds - lastSeconds;
      if (isTime && load === loads.at(-1)) taken ??= take(pages, say);
    };
    const options = { ...crowd, ...load, port: chat.port, seed: 1 };
    await runLoad(options, { signal: cleanup.signal, onProgress });
    over.abort();
    await uploading;
  }
  if (taken === undefined) throw new Error('the load told nothing of its last seconds');
  await taken;
  await chat.stop();
}

async function take(pages, say) {
  for (const [colorScheme, page] of Object.entries(pages)) {
    const name = colorScheme === 'dark' ? 'dashboard-dark.png' : 'dashboard.png';
    const last = await page
      .locator('#charts > :visible')
      .nth(chartCount - 1)
      .boundingBox();
    const height = last.y + last.height + margin;
    const picture = await page.screenshot({ clip: { x: 0, y: 0, width, height } });
    say(`${name}: ${size(await save(name, picture))}`);
  }
}

/**
 * Uploads files to the first room until the end. A refused upload is ignored.
 *
 * @param {string} url
 * @param {number} from the first client of a load: clients are numbered as they come
 * @param {AbortSignal} signal
 */
async function upload(url, from, signal) {
  const body = Buffer.alloc(uploadBytes, 'a line of a file\n');
  const target = new URL(`/api/rooms/load-0/files?name=notes.txt&from=${from}`, url);
  while (!signal.aborted) {
    await fetch(target, { method: 'POST', body, signal })
      .then((answer) => answer.arrayBuffer())
      .catch(() => {});
    await sleep(1000 / uploadsPerSecond);
  }
}
