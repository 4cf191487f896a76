/** The chat as a process with options that the command line does not have: JSON in the first argument. */
import { startChat } from '../app.js';

const chat = await startChat(JSON.parse(process.argv[2]));
await chat.ready;
console.log(`listening on ${chat.url}`);
process.once('SIGTERM', () => chat.close().then(() => process.exit(0)));
