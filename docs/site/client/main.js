import { startContents } from './contents.js';
import { startMenu } from './menu.js';
import { startScrollers } from './scrollers.js';
import { startSearch } from './search.js';

startMenu();
startSearch();
startScrollers();
startContents();
