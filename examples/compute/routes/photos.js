import axios from 'axios';
import { stopwatch } from '../compute/stopwatch.js';
import { HttpError } from '../http/errors.js';
import { isLoopback } from '../http/origin.js';
import { Query } from '../http/query.js';
import { whileWanted } from '../http/wanted.js';
import { MOST_PHOTO_BYTES, PHOTOS_TIMEOUT_MS } from '../settings.js';

/** A call of another service: no work for this one, only waiting. */
export function photoRoutes(app, { photos }) {
  app.get('/fetch-photos', async (request, response) => {
    new Query(request).end();
    const ms = stopwatch();
    const signal = whileWanted(response);
    const list = await fetchPhotos(photos, signal);
    response.json({ photos: list.length, first: list[0] ?? null, ms: ms() });
  });
}

async function fetchPhotos(url, signal) {
  let answer;
  try {
    answer = await axios.get(url, {
      signal,
      // A proxy, if there is one, does not lead back to this machine.
      ...(isLoopback(new URL(url).hostname) ? { proxy: false } : {}),
      timeout: PHOTOS_TIMEOUT_MS,
      maxContentLength: MOST_PHOTO_BYTES,
      responseType: 'json',
      // Text that is not JSON is an error, not a string.
      transitional: { silentJSONParsing: false },
    });
  } catch (error) {
    signal.throwIfAborted();
    throw new HttpError('photo_service', `The photo service did not answer: ${why(error)}.`);
  }
  if (!Array.isArray(answer.data)) {
    throw new HttpError(
      'photo_service',
      'The photo service answered with something else than a list.',
    );
  }
  return answer.data;
}

function why(error) {
  if (error.response && error.code !== 'ERR_BAD_RESPONSE') return `status ${error.response.status}`;
  return error.code ?? error.name;
}
