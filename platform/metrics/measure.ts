import type { Database } from '../database/database.ts';
import type { SubgraphLink } from '../graphql/operations/subgraph.ts';
import type { HttpClient, HttpRequest } from '../http/http-client.ts';
import { boundedLabel, type Metrics } from './metrics.ts';

/** Measures the parts that every process has: outbound calls, the connection pool, the ways to subgraphs. */

/** Most hosts that are named; the results of providers may be anywhere. */
const MAX_HOSTS = 40;

/** The same client; each call is measured by host and status. */
export function measuredHttp(http: HttpClient, metrics: Metrics): HttpClient {
  const observe = metrics.histogram(
    'kiln_outbound_request_seconds',
    'Outbound HTTP calls, until their answer.',
    ['host', 'status'],
  );
  const labelHost = boundedLabel(MAX_HOSTS);
  async function measured<Answer extends { readonly status: number }>(
    { url }: HttpRequest,
    call: Promise<Answer>,
  ): Promise<Answer> {
    const startedAt = performance.now();
    let status = 'failed';
    try {
      const answer = await call;
      status = `${Math.floor(answer.status / 100)}xx`;
      return answer;
    } finally {
      const host = URL.canParse(url) ? labelHost(new URL(url).host) : 'other';
      observe({ host, status }, (performance.now() - startedAt) / 1000);
    }
  }
  return {
    ...http,
    request: (request) => measured(request, http.request(request)),
    download: (request) => measured(request, http.download(request)),
  };
}

/** Measures the connections of a database. */
export function measurePool({ pool }: Pick<Database, 'pool'>, metrics: Metrics): void {
  metrics.gauge(
    'kiln_database_connections',
    'Connections to PostgreSQL, and who waits for one.',
    ['state'],
    () => [
      { labels: { state: 'busy' }, value: pool.totalCount - pool.idleCount },
      { labels: { state: 'idle' }, value: pool.idleCount },
      { labels: { state: 'waiting' }, value: pool.waitingCount },
    ],
  );
}

/** The same links; each fetch is measured by subgraph and outcome. */
export function measuredLinks(
  links: Readonly<Record<string, SubgraphLink>>,
  metrics: Metrics,
): Readonly<Record<string, SubgraphLink>> {
  const observe = metrics.histogram('kiln_subgraph_request_seconds', 'Fetches from subgraphs.', [
    'subgraph',
    'outcome',
  ]);
  return Object.fromEntries(
    Object.entries(links).map(([subgraph, link]) => {
      const execute: SubgraphLink['execute'] = async (request) => {
        const startedAt = performance.now();
        let outcome = 'failed';
        try {
          const result = await link.execute(request);
          outcome = result.errors === undefined ? 'ok' : 'errors';
          return result;
        } finally {
          observe({ subgraph, outcome }, (performance.now() - startedAt) / 1000);
        }
      };
      return [subgraph, { ...link, execute }] as const;
    }),
  );
}
