/**
 * Platforms whose addon is a package of its own: `@millrace/linux-x64-gnu`. The name has the system and the processor as Node.js
 * calls them, and on Linux the C library. `millrace` names all of them as optional dependencies when it is published, and a package
 * manager installs the one that fits.
 */
export const platforms: readonly string[] = [
  'linux-x64-gnu',
  'linux-x64-musl',
  'linux-arm64-gnu',
  'linux-arm64-musl',
  'darwin-x64',
  'darwin-arm64',
  'win32-x64',
  'win32-arm64',
];

/** Returns the possible platform names of this process, in the order in which to try their addons. */
export function candidates(): string[] {
  const here = `${process.platform}-${process.arch}`;
  // An addon for the other C library does not load, so the C library need not be detected. The one for musl is first:
  // glibc has no library of musl's name, but musl takes glibc's name for its own.
  const names = process.platform === 'linux' ? [`${here}-musl`, `${here}-gnu`] : [here];
  return names.filter((name) => platforms.includes(name));
}

/** Returns the platform name of this process; it need not have a package. Costs some milliseconds on Linux. */
export function thisPlatform(): string {
  const here = `${process.platform}-${process.arch}`;
  if (process.platform !== 'linux') return here;
  const { header } = process.report.getReport() as unknown as {
    header: { glibcVersionRuntime?: string };
  };
  return `${here}-${header.glibcVersionRuntime === undefined ? 'musl' : 'gnu'}`;
}
