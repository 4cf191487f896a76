/** Says whether a connection is made to where MILLRACE_FEED leads. */
const { subscribe } = require('node:diagnostics_channel');

const tell = (feeds) => {
  console.log(JSON.stringify(feeds));
  process.exit();
};
subscribe('net.client.socket', () => tell(true));
setTimeout(tell, 1000, false);
