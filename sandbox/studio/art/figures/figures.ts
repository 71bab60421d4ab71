import { animals } from './animals.ts';
import type { Figure } from './figure.ts';
import { outside } from './outside.ts';
import { things } from './things.ts';
import { vehicles } from './vehicles.ts';
import { wingsAndFins } from './wings-and-fins.ts';

/** Every figure by its name. */
const FIGURES = { ...animals, ...wingsAndFins, ...vehicles, ...things, ...outside };

type Home = 'sea' | 'mountain' | 'city' | 'forest' | 'desert' | 'field' | 'room';

const AT_SEA: readonly string[] = ['fish', 'shark', 'whale', 'dolphin', 'octopus', 'turtle', 'crab', 'swan'];
const ON_ROADS: readonly string[] = ['car', 'bus', 'train', 'bicycle', 'robot', 'umbrella'];

/** Where a figure is found when the prompt does not say where. */
export function listHomes(name: string): readonly Home[] {
  if (AT_SEA.includes(name)) return ['sea'];
  if (ON_ROADS.includes(name)) return ['city', 'field', 'mountain'];
  if (name in things) return ['room'];
  if (name === 'cactus' || name === 'camel') return ['desert'];
  return ['field', 'forest', 'mountain'];
}

/** The name of a figure. */
export type FigureName = keyof typeof FIGURES;

/** The figure with this name. */
export function findFigure(name: FigureName): Figure {
  return FIGURES[name];
}

/** Other words for figures, and what they are called in Chinese. */
const WORDS: Readonly<Record<FigureName, string>> = {
  fox: 'foxes|狐',
  dog: 'dogs|puppy|puppies|hounds?|corgi|狗|犬',
  wolf: 'wolves|husky|狼',
  horse: 'horses|pony|ponies|unicorns?|(?<!斑|河)马',
  cow: 'cows|bull|ox|牛',
  pig: 'pigs|boar|猪',
  sheep: 'lambs?|goats?|羊',
  bear: 'bears|熊',
  rabbit: 'rabbits|bunny|bunnies|hares?|兔',
  deer: 'stags?|reindeer|moose|(?<!长颈)鹿',
  lion: 'lions|lioness|狮',
  tiger: 'tigers|leopards?|虎',
  zebra: 'zebras|斑马',
  elephant: 'elephants|大象',
  giraffe: 'giraffes|长颈鹿',
  mouse: 'mice|rats?|hamsters?|鼠',
  camel: 'camels|llamas?|骆驼',
  owl: 'owls|猫头鹰',
  penguin: 'penguins|企鹅',
  duck: 'ducks|ducklings?|goose|geese|鸭',
  chicken: 'chickens|hens?|roosters?|鸡',
  parrot: 'parrots|鹦鹉',
  eagle: 'eagles|hawks?|falcons?|鹰',
  flamingo: 'flamingos?|火烈鸟',
  swan: 'swans|天鹅',
  butterfly: 'butterflies|moths?|蝴蝶',
  bee: 'bees|wasps?|bumblebees?|蜜蜂',
  fish: 'fishes|goldfish|salmon|(?<!章|鲸|鲨)鱼',
  shark: 'sharks|鲨',
  whale: 'whales|orcas?|鲸',
  dolphin: 'dolphins|海豚',
  octopus: 'octopuses|squids?|章鱼',
  turtle: 'turtles|tortoises?|龟',
  crab: 'crabs|lobsters?|蟹',
  car: 'cars|taxis?|automobiles?|汽车|轿车',
  bus: 'buses|trams?|vans?|公交|巴士',
  train: 'trains|locomotives?|火车|列车',
  bicycle: 'bicycles|bikes?|自行车',
  plane: 'planes|airplanes?|aircraft|jets?|飞机',
  rocket: 'rockets|spaceships?|火箭|飞船',
  robot: 'robots|androids?|机器人',
  chair: 'chairs|armchairs?|stools?|椅',
  lamp: 'lamps|lanterns?|灯笼|台灯',
  book: 'books|library|书本|书籍|图书',
  clock: 'clocks|watch|watches|时钟|手表',
  guitar: 'guitars|violins?|吉他|琴',
  camera: 'cameras|相机',
  umbrella: 'umbrellas|parasols?|伞',
  vase: 'vases|pottery|ceramics?|花瓶|陶',
  teapot: 'teapots|kettles?|茶壶',
  apple: 'apples|fruits?|苹果|水果',
  cake: 'cakes|cupcakes?|birthday|蛋糕',
  pizza: 'pizzas|披萨',
  burger: 'burgers|hamburgers?|sandwich|sandwiches|汉堡',
  bottle: 'bottles|wine|perfume|(?<!花)瓶|酒',
  cactus: 'cacti|cactuses|仙人掌',
  mushroom: 'mushrooms|蘑菇',
  palm: 'palms|palm trees?|tropical|棕榈|椰',
  snowman: 'snowmen|雪人',
  castle: 'castles|palaces?|fortress|城堡|宫殿',
  windmill: 'windmills|风车',
  tent: 'tents|camping|帐篷|露营',
  dragon: 'dragons|dinosaurs?|龙',
  ghost: 'ghosts|spirits?|幽灵|鬼',
};

const PATTERNS = (Object.entries(WORDS) as [FigureName, string][]).map(([name, words]) => {
  const [latin, chinese] = [
    words.split('|').filter(isLatin),
    words.split('|').filter((word) => !isLatin(word)),
  ];
  return [
    name,
    new RegExp([String.raw`\b(?:${[name, ...latin].join('|')})\b`, ...chinese].join('|')),
  ] as const;
});

function isLatin(word: string): boolean {
  return /^[\w?\s]+$/.test(word);
}

/** The figures that a prompt names, in the order in which it names them. */
export function figuresIn(text: string): readonly FigureName[] {
  const found = PATTERNS.flatMap(([name, pattern]) => {
    const at = text.search(pattern);
    return at === -1 ? [] : [{ name, at }];
  });
  return found.toSorted((one, other) => one.at - other.at).map(({ name }) => name);
}
