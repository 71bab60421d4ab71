/** Whether `npm run test:all` asks: the whole of what `npm test` tries a sample of. */
export const isWhole = process.env['TEST_EXTENT'] === 'whole';

/** How much a test tries: the sample in `npm test`, the whole in `npm run test:all`. */
export function extent<Amount>(sample: Amount, whole: Amount): Amount {
  return isWhole ? whole : sample;
}

/** Of the cases of a test one of so many, spread over all of them, in `npm test`; each in `npm run test:all`. */
export function takeSample<Case>(cases: readonly Case[], oneOf: number): readonly Case[] {
  return cases.filter((_, index) => isWhole || index % oneOf === 0);
}

/**
 * Cases that each of many subjects could try (faults at each provider, say): in `npm test` a subject tries one of them, chosen by its
 * number, so that all are tried somewhere. In `npm run test:all` each subject tries all.
 */
export function takeTurn<Case>(cases: readonly Case[], number: number): readonly Case[] {
  return cases.filter((_, index) => isWhole || index === number % cases.length);
}

const STUDIO =
  'sandbox/sandbox (an image that is rendered), sandbox/studio/decode and people, test/rest/media/images';

/**
 * Files that `npm test` leaves to `npm run test:all`, each with the tests of `npm test` that fail when what it proves
 * breaks. A run that names one of them, or its folder, runs it.
 */
export const WHOLE_ONLY: Readonly<Record<string, string>> = {
  'tools/chaos/chaos.test.ts':
    'tools/model, test/durability/kill and lost-acknowledgements, test/topology/split',
  'tools/attack/attack.test.ts': 'test/policy/matrix and ownership, test/hostile, test/graphql/ownership',
  'tools/chaos/verify/verify.test.ts': 'nothing of the product: it proves what chaos looks at in the end',
  'tools/bench/burst/crowd.test.ts':
    'gateway/transports/websocket, test/subscriptions/synchronous (callers wait without a connection)',
  'test/clients/packages.test.ts':
    'test/clients/client, ai-sdk and react over the sources, npm run types for their types',
  'tools/browser/browser.test.ts': "the components' own tests in console/src",
  'sandbox/studio/measure/measure.test.ts': STUDIO,
  'sandbox/studio/presenter/presenter.test.ts': STUDIO,
  'sandbox/studio/speech/speech.test.ts': STUDIO,
  'sandbox/studio/studio.test.ts': STUDIO,
  'sandbox/studio/video/video.test.ts': STUDIO,
  'test/durability/pause.test.ts':
    'subgraphs/media/tasks/work/worker (a start that comes back after its claim was lost)',
  'test/durability/openai-retry.test.ts': 'test/durability/kill, faces/openai',
  'test/durability/mcp.test.ts': 'test/durability/kill, faces/mcp',
  'test/durability/generators-file.test.ts':
    'platform/config/config, subgraphs/media/providers/openai/compatible',
  'test/subscriptions/killed-server.test.ts': 'test/topology/split',
  'test/durability/shutdown.test.ts':
    'platform/process/lifecycle, platform/database/embedded-postgres and sandbox/sandbox (owners that are killed)',
  'test/topology/cells.test.ts':
    'gateway/cells (which cell an id or a body names, passing on, keys of the home cell), platform/ids',
  'test/topology/processes-of-one-port.test.ts':
    'gateway/composition/supervisor, test/topology/split (several processes over one database)',
  'test/topology/planned-stop.test.ts':
    'platform/process/lifecycle, gateway/server/server (draining), platform/queue/postgres-queue and subgraphs/media/tasks/work/worker (stopping)',
  'test/topology/unnoticed.test.ts': 'gateway/transports/streams/keep-following, test/topology/split',
  'test/topology/hanging-database.test.ts': 'test/durability/start-while-away, platform/database/database',
  'test/topology/gateway-beside.test.ts': 'test/topology/gateway-composed and foreign-supergraph',
  'platform/queue/killed-workers.test.ts':
    'platform/queue/postgres-queue (a job that is taken away) and claimed-jobs, test/durability/kill',
  'subgraphs/media/tasks/work/durability.test.ts':
    'tools/model (random histories of the tasks, with crashes), subgraphs/media/tasks/work/worker (starts of a worker that is gone), subgraphs/media/usage/usage (totals), test/durability/kill',
  'subgraphs/media/webhooks/killed-worker.test.ts':
    'subgraphs/media/webhooks/webhooks (a worker that dies before it has written down what it sent)',
  'gateway/federation/killed-subgraph.test.ts':
    'gateway/federation/federation (streams whose subgraph stops), test/topology/split',
};

/** Whether this run leaves the file to `npm run test:all`; `words` are what vitest was called with. */
export function isLeftOut(file: string, words: readonly string[]): boolean {
  const isNamed = words.some(
    (word) => /[/]|\.test/.test(word) && !word.startsWith('-') && file.includes(word),
  );
  return file in WHOLE_ONLY && !isWhole && !isNamed;
}
