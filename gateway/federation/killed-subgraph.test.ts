import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import type { ExecutionResult } from 'graphql';
import { expect, it } from 'vitest';

import { createCallerSigner } from '../../platform/graphql/assertions/caller-assertion.ts';
import { createLocalLink } from '../../platform/graphql/links/local-link.ts';
import { createRemoteLink } from '../../platform/graphql/links/remote-link.ts';
import {
  composeTwoSubgraphs,
  createContext,
  createTwoSubgraphs,
} from '../../platform/graphql/subgraph-server/two-subgraphs.fixture.ts';
import { createEndpoints } from '../../platform/http/endpoints/endpoints.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { createFederation } from './federation.ts';

const KEY = 'the-internal-key-of-the-tests-0123456789';

it('ends a stream with UNAVAILABLE when the process of its subgraph is killed', async () => {
  const logger = silentLogger();
  const script = fileURLToPath(new URL('./subgraph-process.fixture.ts', import.meta.url));
  const child = spawn(process.execPath, [script, KEY], { stdio: ['ignore', 'pipe', 'inherit'] });
  const stops: (() => unknown)[] = [() => child.kill('SIGKILL')];
  try {
    const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
    const sign = createCallerSigner({ key: KEY, audience: 'media' });
    const endpoints = createEndpoints({ urls: [url], logger });
    const media = createRemoteLink({ name: 'media', endpoints, sign, logger });
    const workflow = createLocalLink({ subgraph: createTwoSubgraphs().workflow, logger });
    const supergraphSdl = composeTwoSubgraphs();
    const federation = await createFederation({ supergraphSdl, links: { media, workflow }, logger });
    stops.unshift(
      () => federation.close(),
      () => media.close(),
    );
    const query = 'subscription { taskProgress(id: "t2") { seq task { execution { name } } } }';
    const stream = await federation.subscribe({ query, variables: {}, context: createContext() });
    if (!(Symbol.asyncIterator in stream)) throw new Error(JSON.stringify(stream));
    const first = await stream.next();
    expect(JSON.parse(JSON.stringify(first.value))).toMatchObject({
      data: { taskProgress: { task: { execution: { name: 't2' } } } },
    });
    child.kill('SIGKILL');
    const rest: ExecutionResult[] = [];
    for await (const result of stream) rest.push(JSON.parse(JSON.stringify(result)) as ExecutionResult);
    expect(rest.at(-1)?.errors).toMatchObject([{ extensions: { code: 'UNAVAILABLE' } }]);
  } finally {
    for (const stop of stops) await stop();
  }
});
