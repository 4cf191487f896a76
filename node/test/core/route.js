/** The files that code runs through: V8's precise coverage, of this thread. */
import { Session } from 'node:inspector';

const dist = new URL('../../dist/', import.meta.url).href;

/** Begins to watch; returns a function that ends it and returns the files of `dist` in which a function was called, in order. */
export function watchRoute() {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return () => {
    const files = [];
    session.post('Profiler.takePreciseCoverage', (error, coverage) => {
      if (error) throw error;
      for (const { url, functions } of coverage.result) {
        const href = url.startsWith('/') ? `file://${url}` : url;
        const isCalled = functions.some(({ ranges }) => ranges[0].count > 0);
        if (href.startsWith(dist) && isCalled) files.push(href.slice(dist.length));
      }
    });
    session.post('Profiler.disable');
    session.disconnect();
    return files.sort();
  };
}

/** Whether a file of `dist` is of a folder. */
export const isIn = (folder) => (file) => file.startsWith(`${folder}/`);
