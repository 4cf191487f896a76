/** A signal that is aborted when the client goes away before it has its answer. */
export function whileWanted(response) {
  const gone = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}
