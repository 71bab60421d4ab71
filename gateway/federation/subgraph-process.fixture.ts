import { createSubgraphServer } from '../../platform/graphql/subgraph-server/server.ts';
import { createTwoSubgraphs } from '../../platform/graphql/subgraph-server/two-subgraphs.fixture.ts';
import { silentLogger } from '../../platform/process/logger.ts';

/** The tests' media subgraph in a process of its own, with an event every 20 ms; tests kill it. */

const two = createTwoSubgraphs();
const server = await createSubgraphServer({
  subgraph: two.media,
  internalKey: process.argv[2] ?? '',
  logger: silentLogger(),
  host: '127.0.0.1',
  port: 0,
  uploadMaxBytes: 1_000,
  readiness: {},
});
let seq = 0;
setInterval(() => two.emit('t2', (seq += 1)), 20);
process.stdout.write(`${server.url}\n`);
