import { expect } from 'vitest';

import { graphql, until, type GraphqlAnswer } from '../kit/clients/requests.ts';

/** Asking a live Kiln over GraphQL, for the tests of this folder. */
export function graphqlClient(url: string) {
  const run = (query: string, variables: Record<string, unknown> = {}) => graphql(url, query, variables);

  /** The data of an operation that must succeed. */
  async function ok(query: string, variables: Record<string, unknown> = {}): Promise<GraphqlAnswer['data']> {
    const { data, errors } = await run(query, variables);
    expect(errors).toBeUndefined();
    return data;
  }

  return {
    run,
    ok,
    /** Message, code and field of the only error. */
    async refusal(query: string, variables: Record<string, unknown> = {}) {
      const { errors } = await run(query, variables);
      expect(errors).toHaveLength(1);
      return { message: errors?.[0]?.message ?? '', ...errors?.[0]?.extensions };
    },
    /** Sends a file as the variable `file`. */
    async upload(content: Uint8Array<ArrayBuffer>, name: string, query: string): Promise<GraphqlAnswer> {
      const form = new FormData();
      form.set('operations', JSON.stringify({ query, variables: { file: null } }));
      form.set('map', '{"0":["variables.file"]}');
      form.set('0', new Blob([content], { type: 'image/png' }), name);
      const headers = { 'apollo-require-preflight': 'true' };
      const answer = await fetch(`${url}/graphql`, { method: 'POST', headers, body: form });
      return (await answer.json()) as GraphqlAnswer;
    },
    /** Everything about a task, once it has ended. */
    async ended(id: string): Promise<GraphqlAnswer['data']> {
      const data = await until(
        () => ok(EVERYTHING, { id }),
        ({ task }) => ['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(task.state),
      );
      return data.task;
    },
  };
}

const EVERYTHING = `query ($id: ID!) { task(id: $id) {
  state kind generator taskType text notes stage progress sandbox queuePosition startedAt endedAt createdAt lastSeq
  outputs { id url contentType bytes sha256 width height duration }
  error { code message retryable field }
  result { __typename ... on Description { prompts } }
  attempts { step number provider model reference state error { code } startedAt endedAt }
  noteInfos { code text aspectRatio size usedAspectRatio }
  stageInfo { ...Stage }
  events(first: 1000) { seq state stage stageInfo { ...Stage } progress at }
} }
fragment Stage on TaskStage {
  code text retryInSeconds upstreamPosition step { code number total } node { nodeId classType step steps }
}`;

/** Starts an image; `input` and, if wanted, `key`. */
export const GENERATE = `mutation ($input: ImageInput!, $key: String) {
  generateImage(input: $input, idempotencyKey: $key) { id state kind }
}`;

/** The least that an image can be asked for with. */
export const MINIMAL_IMAGE = { generator: 'agg/imga', prompt: 'a fox' };

/** An id of the right form that nothing has. */
export const UNKNOWN_ID = '0199aaaa-0000-7000-8000-000000000000';
