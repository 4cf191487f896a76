/** Programs that use the chat over HTTP: each request is a connection of its own, so that all processes get some. */
import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export const POST_ROOM = 'posts';

const PAUSE_MS = 400;
const FILE_BYTES = 32 * 1024;
const ANSWER_MS = 60_000;
const TEXT = 'posted over HTTP';

/**
 * Posts messages, uploads files and reads both back until the signal.
 *
 * @param {object} service `url`, `ledger`, `disturbances`
 * @param {AbortSignal} signal
 */
export async function post({ url, ledger, disturbances }, signal) {
  const path = `/api/rooms/${POST_ROOM}`;
  let last;

  async function ask(what, options, expected, body) {
    const from = performance.now();
    ledger.count('requests');
    try {
      const answer = await exchange(new URL(options.path, url), options, body);
      if (answer.status === expected) return answer;
      // The guard turns requests away when the loop has no time: what was not taken is not lost.
      if (answer.status === 503) {
        ledger.count('requests turned away');
        return null;
      }
      ledger.fault(`${what} was answered with ${answer.status}: ${answer.body}`);
    } catch (error) {
      ledger.count('broken requests');
      if (!disturbances.between(from))
        ledger.fault(`${what}: ${error.message}, with no fault near`);
    }
    return null;
  }

  const turns = [
    async () => {
      const options = {
        method: 'POST',
        path: `${path}/messages`,
        headers: { 'content-type': 'application/json' },
      };
      const answer = await ask(
        'a message',
        options,
        201,
        JSON.stringify({ from: 'poster', text: TEXT }),
      );
      if (answer) ledger.saved(JSON.parse(answer.body).id, TEXT);
    },
    async () => {
      const bytes = randomBytes(FILE_BYTES);
      const options = { method: 'POST', path: `${path}/files?name=soak.bin&from=poster` };
      const answer = await ask('an upload', options, 201, bytes);
      if (!answer) return;
      const { id, file } = JSON.parse(answer.body);
      ledger.saved(id, 'soak.bin');
      last = { file, bytes };
      ledger.count('digests');
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      if (file.sha256 !== sha256) ledger.fault(`the digest of file ${file.id} is ${file.sha256}`);
    },
    () => ask('the history', { path: `${path}/messages?limit=20` }, 200),
    async () => {
      if (!last) return;
      const { file, bytes } = last;
      const answer = await ask('a download', { path: file.url }, 200);
      if (answer && !answer.bytes.equals(bytes)) ledger.fault(`file ${file.id} came back changed`);
    },
    () => ask('the health', { path: '/health' }, 200),
  ];

  for (let turn = 0; !signal.aborted; turn++) {
    await turns[turn % turns.length]();
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}

/** @returns {Promise<{ status: number, bytes: Buffer, body: string }>} */
function exchange(url, { method = 'GET', headers }, body) {
  return new Promise((resolve, reject) => {
    const asked = request(
      url,
      { method, headers, agent: false, timeout: ANSWER_MS },
      async (answer) => {
        try {
          const bytes = Buffer.concat(await answer.toArray());
          resolve({ status: answer.statusCode, bytes, body: bytes.toString() });
        } catch (error) {
          reject(error);
        }
      },
    );
    asked.once('timeout', () => asked.destroy(new Error(`no answer in ${ANSWER_MS / 1000} s`)));
    asked.once('error', reject);
    asked.end(body);
  });
}
