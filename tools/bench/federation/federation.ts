import { isDeepStrictEqual } from 'node:util';

import type { Bench, BenchTools, Figure } from '../bench.ts';
import { startProgram } from '../processes.ts';
import { measureInTurns, computeRatio, servedSubject, formatFigures } from '../rounds.ts';
import { ORIGIN, QUERY, VARIABLES } from './world.ts';

const BODY = JSON.stringify({ query: QUERY, variables: VARIABLES });
const HEADERS = { 'content-type': 'application/json' };

/** A nested query over two subgraphs in memory: Kiln's gateway against Apollo's with its own data sources. */
export const federation: Bench = {
  name: 'federation',
  async run(tools) {
    const media = await startServer(tools, ['media']);
    const workflow = await startServer(tools, ['workflow']);
    const servers = {
      kiln: await startServer(tools, ['kiln']),
      guarded: await startServer(tools, ['guarded'], { authorization: 'Bearer token', origin: ORIGIN }),
      local: await startServer(tools, ['local']),
      remote: await startServer(tools, ['remote', media.request.url, workflow.request.url]),
    };
    await assertSameAnswers(Object.values(servers));
    const subjects = Object.values(servers).map((server) => servedSubject(tools.load, server));
    const rounds = await measureInTurns(tools, subjects);
    const guarded: Figure = {
      what: 'the same with a token, rates and an Origin',
      ours: formatFigures(rounds, 'guarded'),
      baseline: `without: ${formatFigures(rounds, 'kiln')}`,
      ratio: { value: computeRatio(rounds, 'guarded', 'kiln'), target: 0.8 },
      note: '',
    };
    const against = (['local', 'remote'] as const).map((baseline) => ({
      what: `nested federated query, 10 tasks (${baseline})`,
      ours: formatFigures(rounds, 'kiln'),
      baseline: `stock ApolloGateway, stock ${baseline} sources: ${formatFigures(rounds, baseline)}`,
      ratio: { value: computeRatio(rounds, 'kiln', baseline), target: 8 },
      note: baseline === 'remote' ? 'its two subgraphs are processes of their own' : '',
    }));
    return [...against, guarded];
  },
};

type Server = Parameters<typeof servedSubject>[1];

async function startServer(
  { lifecycle }: BenchTools,
  words: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const program = await startProgram<{ url: string }>(new URL('server.ts', import.meta.url), words);
  lifecycle.add(`server ${words[0]}`, () => program.stop());
  const request = {
    url: program.ready.url,
    method: 'POST',
    headers: { ...HEADERS, ...more },
    body: BODY,
  } as const;
  return { name: words[0] ?? '', pid: program.pid, request };
}

/** What is fast because it answers something else is not faster. */
async function assertSameAnswers(servers: readonly Server[]): Promise<void> {
  const answers = await Promise.all(
    servers.map(async ({ request }) => {
      const answer = await fetch(request.url, { method: 'POST', headers: HEADERS, body: BODY });
      return (await answer.json()) as { readonly data?: { readonly tasks: readonly unknown[] } };
    }),
  );
  const [first] = answers;
  if (first?.data?.tasks.length !== VARIABLES.first) throw new Error(`no answer: ${JSON.stringify(first)}`);
  for (const answer of answers) {
    if (!isDeepStrictEqual(answer, first)) throw new Error(`another answer: ${JSON.stringify(answer)}`);
  }
}
