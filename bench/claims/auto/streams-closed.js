import { streamLoad } from './streams-load.js';

export default streamLoad();
