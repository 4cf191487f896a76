export default (_, res) => res.end('from a file');
