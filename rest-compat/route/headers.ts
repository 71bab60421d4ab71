import type { IncomingHttpHeaders } from 'node:http';

import { type DocumentNode, getOperationAST } from 'graphql';

/** Request headers that become variables of the documents that declare them. */

interface VariableHeader {
  /** As documented; case does not matter. */
  readonly name: string;
  readonly variable: string;
  readonly description: string;
}

const variableHeaders: readonly VariableHeader[] = [
  {
    name: 'Idempotency-Key',
    variable: 'idempotencyKey',
    description:
      'The same request under the same key returns what the first one made: the same task, checkout or refund, never a second one. Another request under that key is 409. Keys belong to their caller; without a credential to the user that the request names, else to the address that it comes from.',
  },
  {
    name: 'X-Callback-Url',
    variable: 'callbackUrl',
    description:
      'Public http or https address that receives a signed POST when the task has ended (Standard Webhooks).',
  },
];

/** The headers whose variables a document declares. */
export function headersTakenBy(document: DocumentNode | null): readonly VariableHeader[] {
  const { variableDefinitions = [] } = (document && getOperationAST(document)) ?? {};
  const taken = variableDefinitions.map(({ variable }) => variable.name.value);
  return variableHeaders.filter(({ variable }) => taken.includes(variable));
}

/** The variables of a document that the headers of a request set; an empty header counts as absent. */
export function headerVariables(
  document: DocumentNode,
  headers: IncomingHttpHeaders,
): Readonly<Record<string, string>> {
  const entries = headersTakenBy(document).flatMap(({ name, variable }) => {
    const value = headers[name.toLowerCase()];
    return typeof value === 'string' && value.trim() !== '' ? [[variable, value.trim()] as const] : [];
  });
  return Object.fromEntries(entries);
}
