/** The files that code runs through: V8's precise coverage, of this thread. */
import { Session } from 'node:inspector';

const packages = new URL('../../', import.meta.url).href;

const builtFile = new RegExp(`^${packages}(\\w+)/dist/(.*)`);

/** Begins to watch; returns a function that ends it and returns the files of packages in which a function was called, in order: `pool/scheduler.js`. */
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
        const [, name, file] = builtFile.exec(href) ?? [];
        if (name !== undefined && isCalled) files.push(`${name}/${file}`);
      }
    });
    session.post('Profiler.disable');
    session.disconnect();
    return files.sort();
  };
}

/** Whether a file is of a package, or of a folder in one. */
export const isIn = (folder) => (file) => file.startsWith(`${folder}/`);
