/** Rooms and what is said in them. The first room is the one that the page opens. */
export const rooms = {
  lobby: [
    'Good morning, everybody.',
    'Is it raining where you are too?',
    'I have an hour before lunch, so here I am.',
    'The train was on time today, for once.',
    'Back again. What have I missed?',
    'That was a long meeting.',
    'Somebody left the lights on in the hall.',
    'I will be away for a few minutes.',
    'Does anybody know how late the library is open?',
    'It is remarkably quiet here today.',
    'Anybody for a walk this afternoon?',
  ],
  garden: [
    'The tomatoes are finally turning red.',
    'How often do you water basil?',
    'Slugs again. All the lettuce is gone.',
    'I moved the beans to the sunny side.',
    'The bees like the lavender best.',
    'Frost tonight, they say. Cover the seedlings.',
    'Compost is ready after about six months here.',
    'Has anybody grown pumpkins in a pot?',
  ],
  kitchen: [
    'Bread is in the oven, forty minutes to go.',
    'What goes well with leeks?',
    'A little lemon at the end makes all the difference.',
    'My soup is too salty. A potato helps, does it not?',
    'Fresh coffee, if anybody wants some.',
    'I never measure the flour, and it shows.',
    'Leftovers tonight: rice, beans and an egg.',
    'Which pan do you use for pancakes?',
  ],
  workshop: [
    'The chair is glued, now it has to rest overnight.',
    'Measure twice, cut once. I cut twice.',
    'Where does the 8 mm drill always go?',
    'Sanding done, oil comes tomorrow.',
    'The old radio works again, it was only a fuse.',
    'Has anybody sharpened chisels by hand?',
    'A bicycle chain lasts longer when it is clean.',
    'The new shelf is almost level.',
  ],
};

/** Remedy that fits after nearly anything. */
export const replies = [
  'Good question.',
  'I think so too.',
  'Not here.',
  'Ha, the same with me.',
  'Tell us how it went.',
  'I would try it.',
  'Tomorrow, perhaps.',
  'Thanks, that helps.',
  'Really? I did not know that.',
  'Sounds good.',
];

/** Answers to somebody who is not simulated. */
export const welcomes = [
  'Hello! Nice to have you here.',
  'Welcome. Open this page in a second window and talk to yourself.',
  'Good to see you. Try typing slowly: everybody sees that you do.',
  'Interesting. Go on.',
  'I am only simulated, but I am listening.',
];

/** Small files that are passed around: name and content. */
export const files = [
  ['shopping.txt', 'flour\nyeast\nleeks\nlemons\ncoffee\n'],
  ['seeds.txt', 'basil    window sill, March\nbeans    outside, May\npumpkin  outside, late May\n'],
  ['shelf.txt', 'boards   3 at 80 cm\nscrews   24 at 4 x 40 mm\noil      100 ml\n'],
  ['walk.txt', 'Bridge, mill, up to the tower, back along the stream.\nAbout two hours.\n'],
];

/** Hands out the items of a list in random order, each once before any comes again. */
export function deck(items) {
  let left = [];
  return () => {
    if (left.length === 0) left = [...items];
    const [item] = left.splice(Math.floor(Math.random() * left.length), 1);
    return item;
  };
}
