import { graphql } from '../../../test/kit/clients/requests.ts';
import { serviceKey } from '../../../test/kit/processes/kiln-process.ts';
import type { Bench } from '../bench.ts';
import { startBenchedKiln } from '../kiln.ts';
import { finishedTasks, startBareServer } from '../rest-status/rest-status.ts';
import { computeCostRatio, formatFigures, measureInTurns, servedSubject } from '../rounds.ts';

const AMOUNT = 50;
const QUERY = `query Newest($first: Int!) {
  tasks(first: $first) {
    edges { node { id kind state progress createdAt outputs { id url contentType bytes width height } } }
  }
}`;

interface Listed {
  readonly tasks: { readonly edges: readonly { readonly node: { readonly outputs: readonly unknown[] } }[] };
}

/** A page of 50 finished tasks with their outputs over GraphQL, against a bare server that reads the same rows. */
export const taskList: Bench = {
  name: 'task-list',
  async run(tools) {
    const kiln = await startBenchedKiln(tools);
    const { images } = await finishedTasks(kiln);
    const variables = { first: AMOUNT };
    const { data, errors } = await graphql(kiln.url, QUERY, variables, serviceKey);
    const edges = (data as Listed | null)?.tasks.edges ?? [];
    if (edges.length !== AMOUNT || edges.some(({ node }) => node.outputs.length !== Number(images)))
      throw new Error(`another page: ${JSON.stringify(errors ?? edges).slice(0, 500)}`);
    const bare = await startBareServer(tools, kiln);
    const headers = { 'content-type': 'application/json', ...serviceKey };
    const body = JSON.stringify({ query: QUERY, variables });
    const rounds = await measureInTurns(tools, [
      servedSubject(tools.load, {
        name: 'Kiln',
        pid: kiln.pid,
        request: { url: `${kiln.url}/graphql`, method: 'POST', headers, body },
      }),
      servedSubject(tools.load, {
        name: 'bare',
        pid: bare.pid,
        request: { url: bare.url, paths: [`/newest/${AMOUNT}`] },
      }),
    ]);
    const share = computeCostRatio(rounds, 'Kiln', 'bare');
    return [
      {
        what: `list of ${AMOUNT} finished tasks with their outputs over GraphQL`,
        ours: formatFigures(rounds, 'Kiln'),
        baseline: `bare node:http + pg, the same rows: ${formatFigures(rounds, 'bare')}`,
        ratio: null,
        note: `${images} images each; the bare server's processor time is ${share.toFixed(2)} of Kiln's`,
      },
    ];
  },
};
