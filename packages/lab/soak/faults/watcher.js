/** Somebody who looks at the dashboard all the time. */
import { request } from 'node:http';

/**
 * @param {string} url of the dashboard
 * @returns {Promise<{ events: number, bytes: number, isOpen: boolean, close: () => void }>}
 */
export function watch(url) {
  return new Promise((resolve, reject) => {
    const asked = request(new URL('/api/events', url), { agent: false }, (answer) => {
      if (answer.statusCode !== 200) {
        asked.destroy();
        return reject(new Error(`the dashboard answered ${answer.statusCode}`));
      }
      const watcher = { events: 0, bytes: 0, isOpen: true, close: () => asked.destroy() };
      answer.on('data', (data) => {
        watcher.bytes += data.length;
        watcher.events += data.toString('latin1').split('\n\n').length - 1;
      });
      answer.on('error', () => {});
      answer.once('close', () => {
        watcher.isOpen = false;
      });
      resolve(watcher);
    });
    asked.once('error', reject);
    asked.end();
  });
}
