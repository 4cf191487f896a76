import { createHash } from 'node:crypto';
import http from 'node:http';

/**
 * Sends one request.
 *
 * @param {string} url of the server
 * @param {import('./requests.js').Request} request
 * @param {http.Agent | false} agent
 * @param {RegExp} [normalize] with `g`: left out of a body that is compared as a whole
 * @returns {Promise<Pick<import('./requests.js').Answer, 'status' | 'error' | 'bytes' | 'hash' | 'json' | 'isResent'> &
 *   { head?: string[], text?: string }>} never rejects; `head` and `text` are the answer as it came
 */
export function exchange(url, request, agent, normalize) {
  const { path, method = 'GET', headers, body } = request;
  return new Promise((resolve) => {
    const sent = http.request(new URL(path, url), { method, headers, agent }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.once('error', failed);
      response.once('end', () => {
        resolve(read(request, response, Buffer.concat(chunks), normalize));
      });
    });
    sent.once('error', failed);
    sent.end(body);

    function failed({ code, message }) {
      // A server that was blocked for long closes what it takes for idle as soon as it wakes up, with the
      // request unread: every client asks again then, and the time goes on. Once: on a new connection
      // (so says `false`) there is no such excuse.
      if (sent.reusedSocket && code === 'ECONNRESET' && method === 'GET' && !sent.res) {
        const again = exchange(url, request, false, normalize);
        resolve(again.then((answer) => ({ ...answer, isResent: true })));
        return;
      }
      const none = { status: null, bytes: 0, hash: null, json: null };
      resolve({ ...none, error: code ?? message, isResent: false });
    }
  });
}

function read({ payload, check }, { statusCode: status, rawHeaders: head }, body, normalize) {
  const [json, text] = [parse(body), `${body}`];
  const answer = { status, error: null, bytes: body.length, hash: null, json, isResent: false };
  Object.assign(answer, { head, text });
  if (json === undefined && (payload || check)) return { ...answer, error: 'it is not JSON' };
  try {
    const whole = normalize ? text.replace(normalize, '') : body;
    answer.hash = hash(payload ? JSON.stringify(payload(json) ?? null) : whole);
    if (check && !check(json)) answer.error = 'it is wrong';
  } catch (error) {
    answer.error = `it cannot be read: ${error.message}`;
  }
  return answer;
}

function parse(body) {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

const hash = (data) => createHash('sha256').update(data).digest('hex');
