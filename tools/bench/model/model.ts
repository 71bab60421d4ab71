import type { Bench, BenchTools, Figure } from '../bench.ts';
import {
  costPerRole,
  costOfAll,
  roles,
  together,
  twoUnits,
  undisturbed,
  computeUnit,
  type Cost,
  type Role,
  type Spell,
  type Units,
} from './costs.ts';
import { startWorld, type SpellOrder, type World } from './world.ts';

/** Rounds, and milliseconds of each spell in one. */
const ROUNDS = 3;
const SPELL_MS = 3_500;
/** Code that has not run often is slow. */
const WARM_UP_MS = 10_000;
/** How far a prediction may be off. */
const TOLERANCE = 0.25;

/** Traffic in which one kind of operation shows. */
const spells = {
  second: {},
  status: { rates: { status: 200 } },
  read: { rates: { read: 150 } },
  plan: { rates: { plan: 40 } },
  catalog: { rates: { catalog: 150 } },
  submit: { rates: { submit: 20 }, withoutWorker: true },
  task: { rates: { submit: 10 } },
  single: { entries: { single: 400 } },
  crowded: { entries: { crowded: 60 } },
} as const satisfies Record<string, Omit<SpellOrder, 'ms'>>;
type Name = keyof typeof spells;

const MIX: Omit<SpellOrder, 'ms'> = {
  rates: { status: 100, read: 50, plan: 5, catalog: 30, submit: 5 },
  entries: { single: 150, crowded: 20 },
};

/** What single operations cost each role, what a mixed load costs by that, and what it does cost. */
export const model: Bench = {
  name: 'model',
  async run(tools) {
    const world = await startWorld(tools);
    await world.spell({ ...MIX, ms: WARM_UP_MS });
    const idle = await world.spell({ ms: 2 * SPELL_MS });
    await world.startLongWork();
    const running = await world.spell({ ms: 2 * SPELL_MS });
    const { found, mixed } = await measure(tools, world);
    const units = computeUnits(idle, together([running, found.second]), found);
    const { task, entry } = await world.bytes();
    return [
      ...Object.entries(units).map(([name, cost]) => unitFigure(name, cost)),
      createFigure(
        'memory for a follower',
        `gateway ${world.socketKiB.gateway.toFixed(1)} KiB, media ${world.socketKiB.media.toFixed(1)} KiB`,
      ),
      createFigure(
        'rows of a task with one step, of an entry',
        `${task.toFixed(0)} bytes, ${entry.toFixed(0)} bytes`,
      ),
      ...comparison(mixed, costOfAll(mixed, units)),
    ];
  },
};

async function measure(tools: BenchTools, world: World) {
  const all = new Map<string, Spell[]>();
  const note = (name: string, spell: Spell): void => void all.set(name, [...(all.get(name) ?? []), spell]);
  for (let round = 1; round <= ROUNDS; round += 1) {
    tools.say(`round ${round}`);
    for (const [name, order] of Object.entries(spells))
      note(name, await world.spell({ ...order, ms: SPELL_MS }));
    note('mix', await world.spell({ ...MIX, ms: 2 * SPELL_MS }));
  }
  const of = (name: string): Spell => together(undisturbed(all.get(name) ?? []));
  const found = Object.fromEntries(Object.keys(spells).map((name) => [name, of(name)])) as Record<
    Name,
    Spell
  >;
  return { found, mixed: of('mix') };
}

/** The costs one after the other: each spell less what is known by then. */
function computeUnits(idle: Spell, running: Spell, found: Readonly<Record<Name, Spell>>): Units {
  let units: Units = { second: costPerRole((role) => idle.cost[role] / idle.seconds) };
  units = { ...units, poll: computeUnit(running, 'poll', units) };
  for (const name of ['status', 'read', 'plan', 'catalog', 'submit'] as const)
    units = { ...units, [name]: computeUnit(found[name], name, units) };
  const [entry, delivery] = twoUnits([found.single, found.crowded], ['entry', 'delivery'], units);
  units = { ...units, entry, delivery };
  return { ...units, task: computeUnit(found.task, 'task', units) };
}

const WHAT: Readonly<Record<string, string>> = {
  second: 'a second in which nothing is done',
  poll: 'a status request at a provider',
  status: 'a REST status read',
  read: 'a GraphQL read of a task',
  plan: 'the same as an operation that was never sent before',
  catalog: 'a GraphQL read of ten templates',
  submit: 'a submission over REST',
  entry: 'an entry of a log, written and heard of',
  delivery: 'its delivery to a follower',
  task: 'a task after its submission: start, polls apart, and storing',
};

function unitFigure(name: string, cost: Cost): Figure {
  const micros = roles.map((role) => `${role} ${Math.round(cost[role] * 1000)}`);
  return createFigure(WHAT[name] ?? name, `${micros.join(', ')} µs`);
}

function comparison(mixed: Spell, predicted: Cost): readonly Figure[] {
  const rates = Object.entries(mixed.counts).map(
    ([name, count]) => `${(count / mixed.seconds).toFixed(1)} ${name}`,
  );
  const perSecond = (cost: Cost, of: readonly Role[]): number =>
    of.reduce((sum, role) => sum + cost[role], 0) / mixed.seconds;
  return [...roles.map((role) => [role, [role]] as const), ['all of it', roles] as const].map(
    ([name, of]) => {
      const [said, seen] = [perSecond(predicted, of), perSecond(mixed.cost, of)];
      return {
        what: `mixed load, ${name}`,
        ours: `${seen.toFixed(1)} ms a second`,
        baseline: `predicted ${said.toFixed(1)} ms`,
        ratio: { value: 1 - Math.abs(said - seen) / seen, target: 1 - TOLERANCE },
        note: name === 'all of it' ? `a second: ${rates.join(', ')}` : '',
      };
    },
  );
}

function createFigure(what: string, ours: string): Figure {
  return { what, ours, baseline: '', ratio: null, note: '' };
}
