import { parseArgs } from 'node:util';

import { rows } from '../../test/providers/contract/rows.ts';
import { openEnvironment } from '../../test/providers/environment/environment.ts';
import { type Description, readDescription } from './description.ts';
import { KNOWN } from './known.ts';
import { recordStripe } from './record-stripe.ts';
import { record, type Recorded } from './record.ts';

/** Holds what the adapters send to the vendors' own descriptions: `npm run wires -- --openai openapi.yaml`. */
const file = { type: 'string' } as const;
const { values } = parseArgs({ options: { openai: file, gemini: file, replicate: file, stripe: file } });
/** Vendors that refuse names that their objects do not have. */
const CLOSED: ReadonlySet<string> = new Set(['gemini', 'stripe']);
const say = (text: string) => void process.stdout.write(`${text}\n`);

const descriptions = Object.entries(values).map(
  ([provider, name]) => [provider, readDescription(name, CLOSED.has(provider))] as const,
);
if (descriptions.length === 0) {
  say(
    'name the files of descriptions: --openai, --gemini, --replicate, --stripe FILE (tools/wires/README.md says where they are from)',
  );
  process.exit(2);
}
const world = await openEnvironment();
let isRight = true;
try {
  for (const [provider, description] of descriptions) {
    // One provider after the other: they share the proxy.
    // oxlint-disable-next-line eslint/no-await-in-loop -- see above
    isRight = (await compare(provider, description)) && isRight;
  }
} finally {
  await world.close();
}
process.exit(isRight ? 0 : 1);

async function compare(provider: string, description: Description): Promise<boolean> {
  const found = new Map<string, { readonly first: Recorded; count: number }>();
  let requests = 0;
  for (const sent of await recordProvider(provider)) {
    requests += 1;
    for (const problem of await description.findProblems(sent)) {
      const key = `${sent.method} ${sent.path.split('?', 1)[0]}: ${problem}`;
      const known = found.get(key);
      if (known === undefined) found.set(key, { first: sent, count: 1 });
      else known.count += 1;
    }
  }
  const unknown = [...found].filter(([told]) => !isKnown(provider, told));
  say(`${provider}: ${requests} requests, ${found.size} differences, ${unknown.length} of them not known`);
  for (const [told, { first, count }] of unknown) {
    say(`  ${told} (${count} times; first with ${first.model} ${first.options})`);
  }
  return requests > 0 && unknown.length === 0;
}

async function recordProvider(provider: string): Promise<readonly Recorded[]> {
  if (provider === 'stripe') return recordStripe();
  const all: Recorded[] = [];
  for (const row of rows.filter((one) => one.provider === provider)) all.push(...(await record(world, row)));
  return all;
}

function isKnown(provider: string, told: string): boolean {
  return KNOWN.some((one) => one.provider === provider && told.includes(one.told));
}
