import { streamLoad } from './streams-load.js';

export const rate = 20;

export default streamLoad(rate);
