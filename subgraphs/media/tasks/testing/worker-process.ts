import { toRegistry, startEngine } from './engine.ts';
import { PRICED, testBinding, testProvider } from './provider.ts';

/** A worker in a process of its own, to be killed or paused: connection string, upstream and whether it can find. */
const [connectionString = '', upstream = '', find = ''] = process.argv.slice(2);

const engine = await startEngine({ connectionString });
const provider = testProvider(engine.http, { find: find === 'find' });
await engine.worker(
  toRegistry(testBinding('test#0', provider, upstream, { concurrency: 40, prices: PRICED })),
  // Long enough for forty starts at once on a busy machine, short enough to wait for when this process is paused.
  { limits: { claimStaleSeconds: 15 } },
);
process.stdout.write('ready\n');
