import { bareLoad } from './bare-load.js';

export default bareLoad(['/about']);
