import { isDeepStrictEqual } from 'node:util';

import type { Bench, Figure } from '../bench.ts';
import { startProgram } from '../processes.ts';
import { computeCostRatio, formatFigures, measureInTurns, servedSubject } from '../rounds.ts';
import { QUERY, VARIABLES } from './world.ts';

const HEADERS = { 'content-type': 'application/json' };
const BODY = JSON.stringify({ query: QUERY, variables: VARIABLES });

/** A large query over four subgraphs in another process: Kiln's gateway against Apollo's with its own data sources. */
export const heavyQuery: Bench = {
  name: 'heavy-query',
  async run(tools) {
    const { lifecycle, load } = tools;
    const program = async <Ready>(words: readonly string[]) => {
      const started = await startProgram<Ready>(new URL('server.ts', import.meta.url), words);
      lifecycle.add(`server ${words[0]}`, () => started.stop());
      return started;
    };
    const { ready } = await program<{ urls: object }>(['subgraphs']);
    const urls = JSON.stringify(ready.urls);
    const servers = [];
    for (const name of ['kiln', 'sharing', 'stock']) {
      const { pid, ready: served } = await program<{ url: string }>([name, urls]);
      const request = { url: served.url, method: 'POST', headers: HEADERS, body: BODY } as const;
      servers.push({ name, pid, request });
    }
    const bytes = await assertSameAnswers(servers.map(({ request }) => request.url));
    const subjects = servers.map((server) => servedSubject(load, server));
    const rounds = await measureInTurns(tools, subjects);
    const figure = (ours: string, what: string, target: number): Figure => ({
      what,
      ours: formatFigures(rounds, ours),
      baseline: `stock ApolloGateway, stock remote sources: ${formatFigures(rounds, 'stock')}`,
      ratio: { value: computeCostRatio(rounds, ours, 'stock'), target },
      note: `processor time of the gateway alone; an answer has ${bytes} bytes`,
    });
    return [
      figure('kiln', 'heavy query, four remote subgraphs', 8),
      figure('sharing', 'the same, 16 callers at once share what is in flight', 12),
    ];
  },
};

/** What is fast because it answers something else is not faster. Resolves to the bytes of the answer. */
async function assertSameAnswers(urls: readonly string[]): Promise<number> {
  const texts = await Promise.all(
    urls.map(
      async (url) => await (await fetch(url, { method: 'POST', headers: HEADERS, body: BODY })).text(),
    ),
  );
  const [first = '', ...others] = texts;
  const answer = JSON.parse(first) as { readonly errors?: unknown };
  if (answer.errors !== undefined) throw new Error(`no answer: ${first.slice(0, 500)}`);
  for (const other of others) {
    if (!isDeepStrictEqual(JSON.parse(other), answer))
      throw new Error(`another answer: ${other.slice(0, 500)}`);
  }
  return Buffer.byteLength(first);
}
