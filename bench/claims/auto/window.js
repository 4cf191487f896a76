/**
 * Times in s for which a server is warmed up and measured, by load of our own. In its first second, code of auto and of the
 * application is still compiled, which takes as long as what is measured; with these times the figures are those of a server that
 * lives.
 */
export const window = {
  warmup: ({ size }) => (size === 'quick' ? 1.5 : 5),
  seconds: ({ size }) => (size === 'quick' ? 1 : 5),
};
