/** What the cluster of application.js serves. */
export default (_req, res) => res.end('served');
