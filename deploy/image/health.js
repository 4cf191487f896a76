/** The health check of the image: 0 if the server in this container answers /livez, whatever else it is doing. */
const address = `http://127.0.0.1:${process.env.PORT}/livez`;

try {
  const { ok, status } = await fetch(address, { signal: AbortSignal.timeout(4000) });
  if (!ok) throw new Error(`${address} answered ${status}`);
} catch (error) {
  console.error(error.cause?.message ?? error.message);
  process.exitCode = 1;
}
