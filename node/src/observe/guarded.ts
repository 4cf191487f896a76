/** Of the guard what is needed here, loaded with the first http server. */
export { Guard } from '../guard/guard.js';
export { guard } from '../guard/http/server.js';
