import { readFileSync } from 'node:fs';

import { ApolloGateway, RemoteGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { GraphQLError } from 'graphql';
import { createRemoteJWKSet, jwtVerify } from 'jose';

/**
 * Apollo Gateway behind Apollo Server as their documentation sets them up, with tokens by jose, a header that goes on, and its traces by OpenTelemetry:
 * `apollo.ts SUPERGRAPH ORIGIN PORT`, with the issuer's keys and the collector below the origin.
 */
const [supergraph = '', origin = '', port = '0'] = process.argv.slice(2);

const provider = new TracerProvider({
  spanProcessors: [
    new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${origin}/v1/traces` }) }),
  ],
});
trace.setGlobalTracerProvider(provider);
interface Asked {
  readonly tenant?: string | undefined;
}

const keys = createRemoteJWKSet(new URL(`${origin}/keys.json`));
const gateway = new ApolloGateway({
  supergraphSdl: readFileSync(supergraph, 'utf8'),
  buildService: ({ url = '' }) =>
    new RemoteGraphQLDataSource<Asked>({
      url,
      willSendRequest({ request, context: { tenant } }) {
        if (tenant !== undefined) request.http?.headers.set('x-tenant', tenant);
      },
    }),
});
const server = new ApolloServer<Asked>({ gateway, nodeEnv: 'production' });
await startStandaloneServer(server, {
  listen: { port: Number(port), host: '127.0.0.1' },
  async context({ req }) {
    const token = req.headers.authorization?.replace(/^Bearer /, '') ?? '';
    try {
      await jwtVerify(token, keys, { issuer: origin });
    } catch {
      throw new GraphQLError('no valid token', {
        extensions: { code: 'UNAUTHENTICATED', http: { status: 401 } },
      });
    }
    return { tenant: String(req.headers['x-tenant']) };
  },
});
