// Does nothing, for longer than any test.
import { say } from '../talk.js';

say('asleep');
setInterval(() => {}, 1000);
