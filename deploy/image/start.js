/** Starts the application of the image, MAIN, at HOST and PORT; what else the container is given are its options. */
const { HOST, PORT, MAIN } = process.env;
process.argv.splice(
  1,
  process.argv.length - 1,
  MAIN,
  '--host',
  HOST,
  '--port',
  PORT,
  ...process.argv.slice(2),
);
await import(MAIN);
