/** Keeps a worker busy for so long. */
export default (ms) => {
  for (const end = performance.now() + ms; performance.now() < end; );
};
